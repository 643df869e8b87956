import HTTPCacheSemantics
import HTTPTypes

/// Changes the references to the proxy in the fields of a WebDAV request into references to the origin (RFC 4918): clients
/// make them from the URL that they know.
struct GatewayDestination {
  let route: GatewayRoute
  /// The scheme and authority of the requests that the origin gets, such as `http://origin:8080`.
  let origin: String
  /// The hosts that clients know the proxy by, with ports unless they are those of the scheme.
  let hosts: [Authority]
  /// The host of the request, for routes.
  let host: Authority?

  /// - Throws: `Refusal` for a `Destination` on this host that the request's route does not serve (RFC 4918 §9.9.4).
  func change(_ fields: inout HTTPFields) throws(Refusal) {
    if let value = fields[.destination], let path = try path(of: value) {
      guard let own = try reference(path) else {
        throw Refusal(.badGateway, "the Destination has another origin than the request (RFC 4918 §9.9.4)")
      }
      fields[.destination] = own
    }
    if let value = fields[.ifCondition] { fields[.ifCondition] = tagged(value) }
  }

  /// The path of a URI of the proxy; nil for one of another host.
  private func path(of value: String) throws(Refusal) -> String? {
    if value.hasPrefix("/"), !value.hasPrefix("//") { return try GatewayPath.normalised(value) }
    guard let (named, path) = Origin.split(value) else { return nil }
    let port = named.isSecure ? 443 : 80
    // A proxy in front may end TLS, and then the scheme is another one than here.
    guard hosts.contains(where: { $0.text(defaultPort: port) == named.authority }) else { return nil }
    return try GatewayPath.normalised(path)
  }

  /// The URI of the origin for a path of the proxy; nil if the route does not serve it.
  private func reference(_ path: String) throws(Refusal) -> String? {
    guard route.matches(host: host?.host, path: path) else { return nil }
    try GatewayPath.check(path, isBelow: route.path != "/" || !route.basePath.isEmpty)
    return origin + route.basePath + route.target(path)
  }

  private func ownReference(_ value: String) throws(Refusal) -> String? {
    guard let path = try path(of: value) else { return nil }
    return try reference(path)
  }

  /// `If` with the resources that its lists are tagged with (RFC 4918 §10.4.2). What stands in parentheses names no
  /// resource.
  private func tagged(_ value: String) -> String {
    var (own, rest, depth) = ("", value[...], 0)
    while let next = rest.first {
      if depth == 0, next == "<" {
        // Without an end there is no further resource: searched for once, not from each `<` to the end.
        guard let end = rest.firstIndex(of: ">") else { return own + rest }
        let text = String(rest[rest.index(after: rest.startIndex)..<end])
        own += "<" + ((try? ownReference(text)) ?? text)
        rest = rest[end...]
      } else {
        if next == "(" { depth += 1 }
        if next == ")" { depth -= 1 }
        own.append(next)
        rest = rest.dropFirst()
      }
    }
    return own
  }
}

extension HTTPField.Name {
  static let destination = Self("Destination") ?? .location
  static let ifCondition = Self("If") ?? .location
}
