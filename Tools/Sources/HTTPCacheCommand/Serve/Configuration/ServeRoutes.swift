import HTTPCacheProxy
import HTTPCacheSemantics
import HTTPTypes
import NIOCore

/// The routes of a configuration file, and what counts for all of them.
struct ServeRoutes {
  private static let groupKeys = ["addresses", "host", "failures", "pause"]
  private static let routeKeys = [
    "host", "path", "upstream", "strip-path", "preserve-host", "cache", "request-fields", "response-fields",
    "timeout", "origin-silence", "client-silence", "tunnel-silence",
  ]
  private static let fieldKeys = ["set", "remove", "keep"]
  static let keys = groupKeys + routeKeys + fieldKeys

  private(set) var routes: [GatewayRoute] = []
  /// The fields of requests and responses for all routes, also that of `upstream`.
  private(set) var requestFields = FieldRules()
  private(set) var responseFields = FieldRules()

  var isEmpty: Bool { routes.isEmpty }

  init() {}

  /// - Parameter values: the values of the file's keys.
  /// - Throws: `ConfigFailure`.
  init(_ values: [String: ConfigValue]) throws(ConfigFailure) {
    if let rules = values["request-fields"] { requestFields = try Self.fields(rules) }
    if let rules = values["response-fields"] { responseFields = try Self.fields(rules) }
    var groups: [String: OriginGroup] = [:]
    if let upstreams = values["upstreams"] {
      for (name, value) in try upstreams.pairs() { groups[name] = try Self.group(value) }
    }
    guard let list = values["routes"] else {
      if let upstreams = values["upstreams"] { throw upstreams.failure("used by routes, and there are none") }
      return
    }
    for value in try list.list() { routes.append(try route(value, groups)) }
  }

  /// All routes, with that of `upstream` as the last.
  func all(default last: GatewayRoute?) -> [GatewayRoute] {
    (routes + (last.map { [$0] } ?? [])).map { route in
      var route = route
      route.requestFields = requestFields.followed(by: route.requestFields)
      route.responseFields = responseFields.followed(by: route.responseFields)
      return route
    }
  }

  private static func group(_ value: ConfigValue) throws(ConfigFailure) -> OriginGroup {
    let values = try value.values(of: groupKeys)
    guard let list = values["addresses"] else { throw value.failure("a group with addresses") }
    var addresses: [Origin] = []
    for (text, place) in zip(try list.strings(), list.elements) {
      guard let (origin, path) = Origin.split(text), path == "/" else {
        throw place.failure("an http or https URL without a path, such as http://10.0.0.1:8080")
      }
      addresses.append(origin)
    }
    guard var origin = addresses.first else { throw list.failure("a list of at least one URL") }
    if let host = values["host"] {
      guard let (named, path) = Origin.split("\(origin.scheme)://\(try host.string())"), path == "/" else {
        throw host.failure("a host name, with or without a port")
      }
      origin = named
    }
    return OriginGroup(
      origin, addresses: addresses, failureLimit: try values["failures"]?.integer(1...1_000) ?? 3,
      pause: .seconds(Int64(try values["pause"]?.seconds(1...86_400) ?? 10)))
  }

  private func route(
    _ value: ConfigValue, _ groups: [String: OriginGroup]
  ) throws(ConfigFailure) -> GatewayRoute {
    let values = try value.values(of: Self.routeKeys)
    guard let upstream = values["upstream"] else { throw value.failure("a route with an upstream") }
    let name = try upstream.string()
    var route: GatewayRoute
    if let group = groups[name] {
      route = GatewayRoute(to: group)
    } else if let single = Self.route(to: name) {
      route = single
    } else {
      let names =
        groups.isEmpty
        ? ", or the name of a group under upstreams, and there is none"
        : ", or one of \(groups.keys.sorted().joined(separator: ", "))"
      throw upstream.failure("an http or https URL\(names)")
    }
    if let host = values["host"] { route.host = try Self.host(host) }
    if let path = values["path"] { route.path = try Self.path(path) }
    route.stripsPath = try values["strip-path"]?.boolean() ?? false
    route.preservesHost = try values["preserve-host"]?.boolean() ?? false
    route.isCached = try values["cache"]?.boolean() ?? true
    route.silence = try Self.silence(values)
    if let rules = values["request-fields"] { route.requestFields = try Self.fields(rules) }
    if let rules = values["response-fields"] { route.responseFields = try Self.fields(rules) }
    return route
  }

  private static func silence(_ values: [String: ConfigValue]) throws(ConfigFailure) -> SilenceLimits {
    let longest = SilenceOptions.longest
    var limits = SilenceLimits()
    if let value = values["timeout"] { limits.head = .seconds(Int64(try value.seconds(1...3_600))) }
    if let value = values["origin-silence"] {
      limits.origin = SilenceLimit(seconds: Int64(try value.seconds(0...longest)))
    }
    if let value = values["client-silence"] {
      limits.client = .seconds(Int64(try value.seconds(1...longest)))
    }
    if let value = values["tunnel-silence"] {
      limits.tunnel = SilenceLimit(seconds: Int64(try value.seconds(0...longest)))
    }
    return limits
  }

  /// A route for all requests to a URL; nil for another text.
  static func route(to url: String) -> GatewayRoute? {
    guard let (origin, given) = Origin.split(url), !url.contains("?"), !url.contains("#") else { return nil }
    // Normalised, as the paths of requests are.
    let path = TargetURI.resolvingDotSegments(of: url).flatMap { TargetURI.parts(of: $0) }?.path ?? given
    var route = GatewayRoute(to: OriginGroup(origin))
    route.basePath = path.hasSuffix("/") ? String(path.dropLast()) : path
    return route
  }

  private static func host(_ value: ConfigValue) throws(ConfigFailure) -> String {
    let text = try value.string().lowercased()
    let name = text.hasPrefix("*.") ? String(text.dropFirst(2)) : text
    guard let (origin, path) = Origin.split("http://\(name)"), path == "/", origin.authority == name else {
      throw value.failure("a host without a port, or *.domain")
    }
    return text
  }

  private static func path(_ value: ConfigValue) throws(ConfigFailure) -> String {
    let text = try value.string()
    guard text.hasPrefix("/"), !text.contains("?"),
      TargetURI.resolvingDotSegments(of: "http://h\(text)") == "http://h\(text)"
    else {
      throw value.failure("a path that begins with /, without . and .. segments")
    }
    return text
  }

  private static func fields(_ value: ConfigValue) throws(ConfigFailure) -> FieldRules {
    let values = try value.values(of: fieldKeys)
    var rules = FieldRules()
    for (name, text) in try values["set"]?.pairs() ?? [] {
      guard let fieldName = HTTPField.Name(name), !FieldRules.protected.contains(fieldName.canonicalName)
      else {
        throw text.failure("for a field that may be changed")
      }
      let value = try text.string()
      guard HTTPField.isValidValue(value) else { throw text.failure("a field value") }
      guard rules.set.count < FieldRules.mostSet else {
        throw text.failure("one of at most \(FieldRules.mostSet) fields")
      }
      // bounded: the line before compares with the limit.
      rules.set.append(HTTPField(name: fieldName, value: value))
    }
    for (text, place) in zip(try values["remove"]?.strings() ?? [], values["remove"]?.elements ?? []) {
      rules.removed.append(try name(text, place, mayEndInStar: true))
    }
    for (text, place) in zip(try values["keep"]?.strings() ?? [], values["keep"]?.elements ?? []) {
      rules.kept.insert(try name(text, place, mayEndInStar: false))
    }
    return rules
  }

  private static func name(
    _ text: String, _ place: ConfigValue, mayEndInStar: Bool
  ) throws(ConfigFailure) -> String {
    let plain = mayEndInStar && text.hasSuffix("*") ? String(text.dropLast()) : text
    guard let name = HTTPField.Name(plain), !FieldRules.protected.contains(name.canonicalName) else {
      throw place.failure("the name of a field that may be changed")
    }
    return name.canonicalName + (plain == text ? "" : "*")
  }
}
