import HTTPTypes

/// The facts about the client's request that a gateway sends to its origin: `X-Forwarded-For`, `-Host`, `-Proto` and
/// `Forwarded` (RFC 7239).
struct ForwardedRequest: Sendable {
  /// The scheme that the first client used.
  private(set) var scheme: String
  /// The authority that the first client requested; nil if there was none.
  private(set) var host: String?
  /// Whether a trusted proxy's fields contradict each other, so that the origin may use either.
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
    let element = Self.firstElement(fields[values: .forwarded].first ?? "")
    let schemes = [fields[.xForwardedProto].flatMap(Self.first), element["proto"]].compactMap { $0 }
      .map { FieldList.lowercased($0) }
    let hosts = [fields[.xForwardedHost].flatMap(Self.first), element["host"]].compactMap { $0 }
      .map { FieldList.lowercased($0) }
    isAmbiguous = Set(schemes).count > 1 || Set(hosts).count > 1
    if let first = schemes.first, first == "http" || first == "https" { scheme = first }
    if let first = hosts.first.flatMap({ Authority($0) }) {
      self.host = first.text(defaultPort: scheme == "https" ? 443 : 80)
    }
  }

  /// The scheme and host that the origin is told. Responses for different values are kept apart.
  var partition: String { host.map { "\(scheme)://\($0)" } ?? "" }

  /// Sets the fields in a request, from which the fields of an untrusted client were removed before.
  func add(to fields: inout HTTPFields) {
    let address = client.text ?? "unknown"
    Self.append(address, to: .xForwardedFor, in: &fields)
    fields[.xForwardedProto] = scheme
    fields[.xForwardedHost] = host
    Self.append(hop, to: .forwarded, in: &fields)
  }

  private static func append(_ member: String, to name: HTTPField.Name, in fields: inout HTTPFields) {
    fields[name] = (fields[values: name].filter { !$0.isEmpty } + [member]).joined(separator: ", ")
  }

  private static func element(_ address: String, scheme: String, host: String?) -> String {
    var node = address
    if node.utf8.contains(0x3A) { node = "\"[\(node)]\"" }
    var element = "for=\(node)"
    // A host may have a colon or semicolon, which a token must not have (RFC 7239 §4).
    if let host { element += ";host=" + (host.utf8.allSatisfy(isPlain) ? host : "\"\(host)\"") }
    return element + ";proto=\(scheme)"
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F: true
    default: false
    }
  }

  private static func first(_ value: String) -> String? { FieldList.members(value).first }

  /// The parameters of the first element of `Forwarded`, which is about the first client (RFC 7239 §4).
  private static func firstElement(_ value: String) -> [String: String] {
    var parameters: [String: String] = [:]
    guard let element = first(value) else { return parameters }
    for pair in element.split(separator: ";") {
      let parts = pair.split(separator: "=", maxSplits: 1)
      guard parts.count == 2 else { continue }
      let name = FieldList.lowercased(parts[0].filter { $0 != " " })
      parameters[name] = parts[1].filter { $0 != "\"" && $0 != " " }
    }
    return parameters
  }
}
