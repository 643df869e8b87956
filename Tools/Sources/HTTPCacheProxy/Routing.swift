import HTTPTypes

/// What is to be done with a request.
enum Route: Sendable {
  /// To be answered through the cache.
  case cached(HTTPRequest)
  /// To be passed to the origin without the cache: `OPTIONS *` has no URI to be a key.
  case direct(HTTPRequest)
  /// To become another protocol if the origin agrees; `cached` if not asked.
  case upgrade(HTTPRequest, protocols: String)
  /// A tunnel to an origin.
  case tunnel(Origin)
  /// To be answered here, since `Max-Forwards` ends here (RFC 9110 §7.6.2).
  case last
}

/// Decides where a request goes, and makes of it the request that goes there.
struct Routing: Sendable {
  let mode: ProxyServer.Mode
  let via: ViaField

  /// The route of a request.
  ///
  /// - Throws: `ProtocolViolation` for a request that contradicts itself, `Refusal` for one that is
  ///   not served here.
  func route(_ head: RequestHead, framing: Framing) throws -> Route {
    let target = try RequestTarget(head.target, method: head.method)
    let host = try host(head)
    try check(target, against: host)
    if head.method == .trace, framing != .none {
      throw ProtocolViolation("TRACE with content (RFC 9110 §9.3.8)")
    }
    if via.isLoop(head.fields) {
      throw Refusal(Refusal.status(508), "the request was here before", label: "loop")
    }
    var fields = head.fields
    if head.method == .trace || head.method == .options, let value = fields[.maxForwards] {
      guard let left = Int(value), left >= 0 else {
        throw ProtocolViolation("Max-Forwards is no number (RFC 9110 §7.6.2)")
      }
      if left == 0 { return .last }
      fields[.maxForwards] = String(left - 1)
    }
    if case .authority(let host, let port) = target { return try tunnel(host, port) }
    let protocols = upgrade(head, framing)
    let acceptsTrailers = FieldList.contains("trailers", in: fields[.te])
    HopByHop.remove(from: &fields)
    fields.removeHost()
    if acceptsTrailers { fields[.te] = "trailers" }
    if let length = framing.length, fields[.contentLength] != nil { fields[.contentLength] = String(length) }
    if !head.expectsContinue { fields[.expect] = nil }
    via.append(to: &fields, minorVersion: head.minorVersion)
    let (origin, path) = try destination(target, head.method)
    let request = HTTPRequest(
      method: head.method, scheme: origin.scheme, authority: origin.authority, path: path,
      headerFields: fields)
    if path == "*" { return .direct(request) }
    return protocols.map { .upgrade(request, protocols: $0) } ?? .cached(request)
  }

  /// The one `Host` that a request of HTTP/1.1 must have (RFC 9112 §3.2).
  private func host(_ head: RequestHead) throws(ProtocolViolation) -> Authority? {
    let values = head.fields.hosts
    guard values.count <= 1 else { throw ProtocolViolation("more than one Host (RFC 9112 §3.2)") }
    guard let value = values.first else {
      guard head.minorVersion == 0 else { throw ProtocolViolation("no Host (RFC 9112 §3.2)") }
      return nil
    }
    guard let host = Authority(value) else { throw ProtocolViolation("not a Host (RFC 9112 §3.2)") }
    return host
  }

  private func check(_ target: RequestTarget, against host: Authority?) throws(ProtocolViolation) {
    guard let host else { return }
    let agrees =
      switch target {
      case .origin, .asterisk: true
      case .absolute(let origin, _):
        host.host == origin.host && (host.port ?? (origin.isSecure ? 443 : 80)) == origin.port
      case .authority(let name, let port): host.host == name && (host.port ?? port) == port
      }
    guard agrees else { throw ProtocolViolation("Host contradicts the target (RFC 9112 §3.2.2)") }
  }

  private func tunnel(_ host: String, _ port: Int) throws -> Route {
    guard case .forward(let rules) = mode else {
      throw Refusal(.methodNotAllowed, "CONNECT is for forward proxies", closes: true)
    }
    guard rules.connectPorts.contains(port), rules.allows(host: host) else {
      throw Refusal(.forbidden, "no tunnels to there", closes: true)
    }
    return .tunnel(Origin(isSecure: false, host: host, port: port))
  }

  private func destination(_ target: RequestTarget, _ method: HTTPRequest.Method) throws -> (Origin, String) {
    switch (mode, target) {
    case (.reverse(let origin, let base), .origin(let path)): return (origin, base + path)
    case (.reverse(let origin, let base), .absolute(_, let path)):
      return (origin, path == "*" ? path : base + path)
    case (.reverse(let origin, _), .asterisk): return (origin, "*")
    case (.forward(let rules), .absolute(let origin, let path)):
      guard rules.allows(host: origin.host) else { throw Refusal(.forbidden, "this host is not served") }
      return (origin, path)
    default: throw Refusal(.badRequest, "a proxy wants the whole URI (RFC 9112 §3.2.2)")
    }
  }

  /// The protocols asked for, if they are passed on: never other forms of HTTP, which would carry
  /// requests past the cache and its rules.
  private func upgrade(_ head: RequestHead, _ framing: Framing) -> String? {
    guard head.method == .get, framing == .none, head.minorVersion >= 1,
      FieldList.contains("upgrade", in: head.fields[.connection]), let value = head.fields[.upgrade]
    else { return nil }
    let protocols = FieldList.members(value)
    let isPassedOn = protocols.allSatisfy { member in
      let name = member.lowercased().prefix { $0 != "/" }
      return !["h2", "h2c", "http", "tls"].contains(name)
    }
    return protocols.isEmpty || !isPassedOn ? nil : protocols.joined(separator: ", ")
  }
}
