import HTTPCacheSemantics
public import HTTPTypes

/// Where a gateway stores the responses to a URL of its clients.
public struct StoredPlace: Sendable {
  /// The request to the origin, without header fields.
  public let request: HTTPRequest
  /// The partition.
  public let partition: String
  /// The normalised target.
  public let target: String

  /// Finds the place.
  ///
  /// - Parameters:
  ///   - scheme: `http` or `https`.
  ///   - authority: host and port of the URL.
  ///   - path: path and query of the URL.
  ///   - routes: the routes of the gateway.
  /// - Returns: nil if no route serves the URL, or its origin is that of a route.
  public init?(scheme: String, authority: String, path: String, routes: [GatewayRoute]) {
    guard
      case .cached(let routed)? = try? Self.route(
        scheme: scheme, authority: authority, path: path, routes: routes),
      let target = CacheKey.target(of: routed.head)
    else { return nil }
    request = HTTPRequest(
      method: .get, scheme: routed.head.scheme, authority: routed.head.authority, path: routed.head.path)
    partition = routed.partition
    self.target = target
  }

  /// Whether a gateway answers a URL of its clients with 404, because no route serves the URL. False for a URL whose
  /// origin is that of a route, and without routes.
  package static func hasNoRoute(
    scheme: String, authority: String, path: String, routes: [GatewayRoute]
  ) -> Bool {
    do {
      _ = try route(scheme: scheme, authority: authority, path: path, routes: routes)
      return false
    } catch {
      return (error as? Refusal)?.label == .noRoute
    }
  }

  /// The way of a client's request for a URL; nil for a URL whose origin is that of a route, and without routes.
  private static func route(
    scheme: String, authority: String, path: String, routes: [GatewayRoute]
  ) throws -> Route? {
    guard !routes.isEmpty, let origin = Origin(scheme: scheme, authority: authority),
      !routes.contains(where: { $0.asks(origin) }),
      let name = HTTPField.Name("Host")
    else { return nil }
    let routing = Routing(
      mode: .gateway(routes), via: ViaField(name: "httpcache"),
      client: ClientSide(address: nil, isSecure: scheme == "https"))
    let head = RequestHead(
      method: .get, path: path, origin: nil, fields: [name: authority], framing: .none)
    return try routing.route(head, framing: .none)
  }

  /// The prefixes of the targets under which a gateway stores the responses to paths that begin with a path.
  ///
  /// - Parameters:
  ///   - path: a path of a client, which may end within a segment.
  ///   - routes: the routes of the gateway.
  ///   - target: returns the target for a path of a client; nil if no route serves the path.
  package static func prefixes(
    of path: String, in routes: [GatewayRoute], target: (String) throws -> String?
  ) rethrows -> [String] {
    let path = (try? GatewayPath.normalised(path)) ?? path
    // A prefix may end above the paths of routes, which may lead to other origins, and need no route of its own.
    let below = routes.map(\.path).filter { $0 != path && $0.hasPrefix(path) }
    var targets = try ([path] + below).compactMap(target)
    // Another route may serve the paths whose last segment goes on: `/apiary` is not below the route for `/api`.
    if !path.contains("?"), let longer = try target(path + "~") { targets.append(String(longer.dropLast())) }
    return distinct(prefixes: targets)
  }

  /// The prefixes without each that begins with another one, sorted: a soft purge would count its responses twice.
  package static func distinct(prefixes: [String]) -> [String] {
    var distinct: [String] = []
    for prefix in prefixes.sorted() {
      // Prefixes that begin with another one follow it.
      if let last = distinct.last, prefix.hasPrefix(last) { continue }
      distinct.append(prefix)
    }
    return distinct
  }
}
