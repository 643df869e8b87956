import HTTPCacheSemantics
import HTTPTypes

/// How to handle a request.
enum Route: Sendable {
  /// Answer through the cache.
  case cached(RoutedRequest)
  /// Forward to the origin without the cache: `OPTIONS *` has no URI for a key.
  case direct(RoutedRequest)
  /// Upgrade to another protocol if the origin agrees.
  case upgrade(RoutedRequest, protocols: String)
  /// A tunnel to an origin.
  case tunnel(Origin)
  /// Answer here, because `Max-Forwards` is 0 (RFC 9110 §7.6.2).
  case last

  /// The limits of silence that a gateway's route has of its own.
  var silence: SilenceLimits {
    switch self {
    case .cached(let request), .direct(let request), .upgrade(let request, _):
      request.route?.silence ?? SilenceLimits()
    case .tunnel, .last: SilenceLimits()
    }
  }
}

/// Decides where a request goes, and makes the request for there.
struct Routing: Sendable {
  let mode: ProxyServer.Mode
  let via: ViaField
  let client: ClientSide

  /// The methods that the proxy names in `Allow`. It passes on any other one that is no CONNECT.
  static let methods = "GET, HEAD, OPTIONS, POST, PUT, PATCH, DELETE, QUERY, TRACE"

  /// Whether requests name their origins.
  static func isForward(_ mode: ProxyServer.Mode) -> Bool { if case .forward = mode { true } else { false } }

  /// The route of a request.
  ///
  /// - Throws: `ProtocolViolation` for a request that contradicts itself, `Refusal` for a request that is not served
  ///   here.
  func route(_ head: RequestHead, framing: Framing) throws -> Route {
    let target = try RequestTarget(head.target, method: head.method)
    let host = try host(head, target)
    if head.method == .trace, framing != .none {
      throw ProtocolViolation("TRACE with content (RFC 9110 §9.3.8)")
    }
    if via.isLoop(head.fields) {
      throw Refusal(
        HTTPResponse.Status(code: 508, reasonPhrase: "Loop Detected"),
        "the request has passed through this proxy before", label: .loop)
    }
    var fields = head.fields
    if head.method == .trace || head.method == .options, let value = fields[.maxForwards] {
      guard !value.isEmpty, value.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
        throw ProtocolViolation("an invalid Max-Forwards (RFC 9110 §7.6.2)")
      }
      // A number that is too large counts as the largest, as the section allows.
      let forwards = UInt64(value) ?? .max
      if forwards == 0 { return .last }
      fields[.maxForwards] = String(forwards - 1)
    }
    if case .authority(let host, let port) = target { return try tunnel(host, port) }
    let protocols = upgrade(head, framing)
    let acceptsTrailers = FieldList.contains("trailers", in: fields, .te)
    fields = FieldHygiene.forwardable(fields)
    fields.remove(.hostField)
    if acceptsTrailers { fields[.te] = "trailers" }
    if let length = framing.length, fields.firstIndex(of: .contentLength) != nil {
      fields[.contentLength] = String(length)
    }
    // A request without content must not expect 100 Continue (RFC 9110 §10.1.1); other expectations are not passed on.
    if !head.expectsContinue || framing == .none { fields.remove(.expect) }
    via.append(to: &fields, version: head.version)
    let destination = try destination(target, host)
    let request = try routed(head.method, to: destination, host: host, fields: fields)
    if destination.path == "*" { return .direct(request) }
    return protocols.map { .upgrade(request, protocols: $0) } ?? .cached(request)
  }

  private struct Destination {
    let origin: Origin
    let path: String
    /// Nil for a forward proxy.
    var route: GatewayRoute?
    /// Whether an origin may read the path as one of a route without a cache.
    var bypassesCache = false
  }

  private func routed(
    _ method: HTTPRequest.Method, to destination: Destination, host: Authority?, fields: HTTPFields
  ) throws(Refusal) -> RoutedRequest {
    let (origin, path) = (destination.origin, destination.path)
    var fields = fields
    fields.removeAll { field in
      // Proxies write hyphens. An attacker may write underscores or dots, for origins that read them as hyphens.
      field.name.tellsOfClient && (!client.isTrusted || field.name.isUnusual)
    }
    var head = HTTPRequest(
      method: method, scheme: origin.scheme, authority: origin.authority, path: path, headerFields: [:])
    let overridesTarget = fields.contains { $0.name.overridesTarget }
    guard let route = destination.route else {
      let bypassesCache = overridesTarget || !ForwardPath.sharesKey(head)
      head.headerFields = fields
      return RoutedRequest(head: head, bypassesCache: bypassesCache)
    }
    let forwarded = ForwardedRequest(client, host: host, fields: fields)
    forwarded.add(to: &fields)
    var group = route.group.isPlain ? nil : route.group
    if route.preservesHost, let host {
      group = route.group
      head.authority = host.text(defaultPort: origin.isSecure ? 443 : 80)
    }
    if method != .get, method != .head {
      let hosts = [host, forwarded.host.flatMap { Authority($0) }].compactMap { $0 }
      try GatewayDestination(
        route: route, origin: "\(origin.scheme)://\(head.authority ?? "")", hosts: hosts, host: host
      ).change(&fields)
    }
    route.requestFields.apply(to: &fields)
    head.headerFields = fields
    return RoutedRequest(
      head: head, group: group, route: route, partition: forwarded.partition,
      bypassesCache: overridesTarget || forwarded.isAmbiguous || destination.bypassesCache)
  }

  /// The host that a request names: the target in absolute-form (RFC 9112 §3.2.2), else the one `Host` that a request
  /// of HTTP/1.1 must have (§3.2).
  private func host(_ head: RequestHead, _ target: RequestTarget) throws(ProtocolViolation) -> Authority? {
    let field = try hostField(head)
    switch target {
    case .origin, .asterisk: return field
    case .absolute(let origin, _): return Authority(origin.authority)
    case .authority(let name, let port):
      if let field, field.host != name || (field.port ?? port) != port {
        throw ProtocolViolation("Host does not match the request target (RFC 9112 §3.2.3)")
      }
      return field
    }
  }

  private func hostField(_ head: RequestHead) throws(ProtocolViolation) -> Authority? {
    let values = head.fields.hosts
    guard values.count <= 1 else { throw ProtocolViolation("more than one Host (RFC 9112 §3.2)") }
    guard let value = values.first else {
      guard head.minorVersion == 0 else { throw ProtocolViolation("a request without Host (RFC 9112 §3.2)") }
      return nil
    }
    guard let host = Authority(value) else { throw ProtocolViolation("an invalid Host (RFC 9112 §3.2)") }
    return host
  }

  private func tunnel(_ host: String, _ port: Int) throws(Refusal) -> Route {
    guard case .forward(let rules) = mode else {
      var refusal = Refusal(.methodNotAllowed, "CONNECT is only for forward proxies", closes: true)
      // RFC 9110 §15.5.6.
      refusal.fields[.allow] = Self.methods
      throw refusal
    }
    try check(host, port: port, in: rules.connectPorts, rules: rules)
    return .tunnel(Origin(isSecure: false, host: host, port: port))
  }

  private func check(
    _ host: String, port: Int, in ports: Set<Int>?, rules: ForwardRules
  ) throws(Refusal) {
    guard rules.allows(host: host) else {
      throw Refusal(.forbidden, "this proxy does not serve the host \(host)")
    }
    guard ports?.contains(port) ?? true else {
      throw Refusal(.forbidden, "this proxy does not serve port \(port)")
    }
  }

  private func destination(_ target: RequestTarget, _ host: Authority?) throws(Refusal) -> Destination {
    switch (mode, target) {
    case (.gateway(let routes), .asterisk), (.gateway(let routes), .absolute(_, "*")):
      let route = try Self.route(host, "/", in: routes)
      return Destination(
        origin: route.group.origin, path: "*", route: route, bypassesCache: !route.isCached)
    case (.gateway(let routes), .origin(let given)), (.gateway(let routes), .absolute(_, let given)):
      // Dot segments are resolved before a route is chosen, so that they cannot lead to another one.
      let path = try GatewayPath.normalised(given)
      let route = try Self.route(host, path, in: routes)
      try GatewayPath.check(path, isBelow: route.path != "/" || !route.basePath.isEmpty)
      return Destination(
        origin: route.group.origin, path: route.basePath + route.target(path), route: route,
        bypassesCache: !route.isCached || Self.mayBypass(host, path, in: routes))
    case (.forward(let rules), .absolute(let origin, let path)):
      try check(
        origin.host, port: origin.port, in: origin.isSecure ? rules.connectPorts : rules.httpPorts,
        rules: rules)
      return Destination(origin: origin, path: path)
    default:
      throw Refusal(.badRequest, "a forward proxy needs the whole URI in the request line (RFC 9112 §3.2.2)")
    }
  }

  private static func route(
    _ host: Authority?, _ path: String, in routes: [GatewayRoute]
  ) throws(Refusal) -> GatewayRoute {
    guard let route = routes.first(where: { $0.matches(host: host?.host, path: path) }) else {
      throw Refusal(.notFound, "no route of this proxy has the host and the path", label: .noRoute)
    }
    return route
  }

  /// Whether an origin may read a path as one of a route without a cache.
  private static func mayBypass(_ host: Authority?, _ path: String, in routes: [GatewayRoute]) -> Bool {
    guard routes.contains(where: { !$0.isCached }) else { return false }
    let readings = PathReadings(of: path)
    if readings.isIncomplete { return true }
    return ([path] + readings.others).contains { path in
      let first = routes.first { route in
        route.isCached
          ? route.matches(host: host?.host, path: path) : route.covers(host: host?.host, path: path)
      }
      return first.map { !$0.isCached } ?? false
    }
  }

  /// The requested protocols that may be forwarded: never other versions of HTTP, whose requests would bypass the cache
  /// and its rules.
  private func upgrade(_ head: RequestHead, _ framing: Framing) -> String? {
    guard head.method == .get, framing == .none, head.minorVersion >= 1,
      FieldList.contains("upgrade", in: head.fields, .connection), let value = head.fields[.upgrade]
    else { return nil }
    let protocols = FieldList.members(value)
    let isPassedOn = protocols.allSatisfy { member in
      let name = member.lowercased().prefix { $0 != "/" }
      return !["h2", "h2c", "http", "tls"].contains(name)
    }
    return protocols.isEmpty || !isPassedOn ? nil : protocols.joined(separator: ", ")
  }
}
