import HTTPCacheSemantics
import HTTPTypes

/// The facts about the client's request that a gateway sends to its origin: `X-Forwarded-For`, `-Host`, `-Proto` and
/// `Forwarded` (RFC 7239).
struct ForwardedRequest: Sendable {
  /// The scheme that the first client used.
  private(set) var scheme: String
  /// The authority that the first client requested; nil if there was none.
  private(set) var host: String?
  /// Whether a trusted proxy's fields contradict each other or may be read in several ways, so that the origin may use
  /// another host or scheme than the key.
  private(set) var isAmbiguous = false
  private let client: ClientSide
  private let hop: String

  /// - Parameters:
  ///   - host: the host of the request.
  ///   - fields: the fields of the request; those in question count only from a trusted proxy.
  init(_ client: ClientSide, host: Authority?, fields: HTTPFields) {
    self.client = client
    let ownScheme = client.isSecure ? "https" : "http"
    let ownHost = host?.text(defaultPort: client.isSecure ? 443 : 80)
    scheme = ownScheme
    self.host = ownHost
    hop = Self.element(client.text ?? "unknown", scheme: ownScheme, host: ownHost)
    guard client.isTrusted else { return }
    let elements = Self.members(.forwarded, of: fields)
    let (schemes, hosts) = (
      Self.told(.xForwardedProto, "proto", elements, fields),
      Self.told(.xForwardedHost, "host", elements, fields)
    )
    isAmbiguous =
      Set(schemes).count > 1 || Set(hosts).count > 1 || !schemes.allSatisfy(Self.isScheme)
      || hosts.contains { Authority($0) == nil }
      || fields[values: .forwarded].contains(where: ForwardedNodes.isUnclear)
    if let first = schemes.first, Self.isScheme(first) { scheme = first }
    if let first = hosts.first.flatMap({ Authority($0) }) {
      self.host = first.text(defaultPort: scheme == "https" ? 443 : 80)
    }
  }

  /// The scheme and host that the origin is told. Responses for different values are kept apart.
  var partition: String { host.map { String(joining: [scheme, "://", $0]) } ?? "" }

  /// Sets the fields in a request, from which the fields of an untrusted client were removed before.
  func add(to fields: inout HTTPFields) {
    let address = client.text ?? "unknown"
    if client.isTrusted { convert(&fields) }
    Self.append(address, to: .xForwardedFor, in: &fields)
    Self.set(.xForwardedProto, scheme, in: &fields)
    Self.set(.xForwardedHost, host, in: &fields)
    Self.append(hop, to: .forwarded, in: &fields)
  }

  /// Gives each of both forms what only the other one has, so that an origin reads the same in each (RFC 7239 §7.4).
  private func convert(_ fields: inout HTTPFields) {
    let (old, new) = (Self.members(.xForwardedFor, of: fields), Self.members(.forwarded, of: fields))
    if new.isEmpty {
      guard !old.isEmpty || fields[.xForwardedProto] != nil || fields[.xForwardedHost] != nil else { return }
      var nodes = ForwardedNodes.nodes(of: fields)
      if nodes.isEmpty { nodes = ["unknown"] }
      let elements = nodes.enumerated().map { index, node in
        // Scheme and host are those of the first client.
        Self.element(Self.node(node), scheme: index == 0 ? scheme : nil, host: index == 0 ? host : nil)
      }
      fields[.forwarded] = elements.joined(separator: ", ")
      return
    }
    if old.isEmpty {
      fields[.xForwardedFor] = ForwardedNodes.nodes(of: fields).map(Self.node).joined(separator: ", ")
    }
    completeFirstElement(&fields)
  }

  /// Appends scheme and host to the first element of `Forwarded` if only the other form has them.
  private func completeFirstElement(_ fields: inout HTTPFields) {
    var elements = Self.members(.forwarded, of: fields)
    // An odd number of quotation marks: the comma behind this text is a part of a string.
    guard let first = elements.first, first.utf8.count(where: { $0 == 0x22 }).isMultiple(of: 2) else {
      return
    }
    if ForwardedNodes.values(of: "host", in: first).isEmpty, fields[.xForwardedHost] != nil, let host {
      elements[0] += Self.hostParameter(host).joined()
    }
    if ForwardedNodes.values(of: "proto", in: first).isEmpty, fields[.xForwardedProto] != nil {
      elements[0] += ";proto=\(scheme)"
    }
    if elements[0] != first { fields[.forwarded] = elements.joined(separator: ", ") }
  }

  /// A node as an address alone.
  private static func node(_ text: String) -> String {
    ForwardedNodes.address(text).map { "\($0)" } ?? "unknown"
  }

  private static func set(_ name: HTTPField.Name, _ value: String?, in fields: inout HTTPFields) {
    fields.remove(name)
    // bounded: a field that the proxy adds.
    if let value { fields.append(HTTPField(name: name, value: value)) }
  }

  private static func append(_ member: String, to name: HTTPField.Name, in fields: inout HTTPFields) {
    // Most clients are no trusted proxies, and none of their fields is left.
    guard fields.firstIndex(of: name) != nil else { return set(name, member, in: &fields) }
    let members = fields[values: name].filter { !$0.isEmpty }
    fields[name] = members.isEmpty ? member : (members + [member]).joined(separator: ", ")
  }

  private static func element(_ address: String, scheme: String?, host: String?) -> String {
    var parts = ["for="]
    parts += address.utf8.contains(0x3A) ? ["\"[", address, "]\""] : [address]
    if let host { parts += hostParameter(host) }
    if let scheme { parts += [";proto=", scheme] }
    return String(joining: parts)
  }

  private static func hostParameter(_ host: String) -> [String] {
    // A host may have a colon or semicolon, which a token must not have (RFC 7239 §4).
    host.utf8.allSatisfy(isPlain) ? [";host=", host] : [";host=\"", host, "\""]
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F: true
    default: false
    }
  }

  /// The values that a request gives in a field of its own, and in the first element of `Forwarded` that has one: an origin
  /// may read either.
  private static func told(
    _ name: HTTPField.Name, _ parameter: String, _ elements: [String], _ fields: HTTPFields
  ) -> [String] {
    let inElement = elements.lazy.map { ForwardedNodes.values(of: parameter, in: $0) }.first { !$0.isEmpty }
    return (members(name, of: fields).prefix(1) + (inElement ?? [])).map { FieldList.lowercased($0) }
  }

  private static func isScheme(_ text: String) -> Bool { text == "http" || text == "https" }

  /// The members of all lines of a field, which are one list (RFC 9110 §5.3), without empty ones (§5.6.1.2).
  private static func members(_ name: HTTPField.Name, of fields: HTTPFields) -> [String] {
    fields[values: name].flatMap { FieldList.members($0) }
  }
}
