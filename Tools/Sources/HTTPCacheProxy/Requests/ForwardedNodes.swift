import HTTPTypes

/// The clients and proxies that `X-Forwarded-For` names, or `Forwarded` (RFC 7239).
enum ForwardedNodes {
  /// The nodes as the fields have them, the first client first. `X-Forwarded-For` counts if there is one.
  static func nodes(of fields: HTTPFields) -> [String] {
    let listed = fields[values: .xForwardedFor].flatMap { FieldList.members($0) }
    if !listed.isEmpty { return listed }
    return fields[values: .forwarded].flatMap { FieldList.members($0) }.map {
      parameters(of: $0)["for"] ?? ""
    }
  }

  /// The parameters of an element of `Forwarded` (RFC 7239 §4), without quotation marks.
  static func parameters(of element: String) -> [String: String] {
    var parameters: [String: String] = [:]
    for pair in element.split(separator: ";") {
      let parts = pair.split(separator: "=", maxSplits: 1)
      guard parts.count == 2 else { continue }
      let name = FieldList.lowercased(parts[0].filter { $0 != " " })
      parameters[name] = parts[1].filter { $0 != "\"" && $0 != " " }
    }
    return parameters
  }

  /// The address of a node, which may have brackets and a port (RFC 7239 §6); nil for another name.
  static func address(_ node: String) -> IPAddress? {
    let text = node.filter { $0 != "\"" }
    if text.hasPrefix("[") { return IPAddress(String(text.dropFirst().prefix { $0 != "]" })) }
    if text.contains("."), let colon = text.firstIndex(of: ":") {
      return IPAddress(text) ?? IPAddress(String(text[..<colon]))
    }
    return IPAddress(text)
  }
}
