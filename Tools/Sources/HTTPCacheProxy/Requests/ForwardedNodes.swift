import HTTPTypes

/// The clients and proxies that `X-Forwarded-For` names, or `Forwarded` (RFC 7239).
enum ForwardedNodes {
  /// The nodes as the fields have them, the first client first. `X-Forwarded-For` counts if there is one.
  static func nodes(of fields: HTTPFields) -> [String] {
    let listed = fields[values: .xForwardedFor].flatMap { FieldList.members($0) }
    if !listed.isEmpty { return listed }
    return fields[values: .forwarded].flatMap { FieldList.members($0) }.map {
      values(of: "for", in: $0).last ?? ""
    }
  }

  /// The values of a parameter in an element of `Forwarded`, without quotation marks: at most one in a well-formed element
  /// (RFC 7239 §4).
  static func values(of parameter: String, in element: String) -> [String] {
    element.split(separator: ";").compactMap { pair in
      let parts = pair.split(separator: "=", maxSplits: 1).map { $0.filter { !" \t\"".contains($0) } }
      return parts.count == 2 && FieldList.lowercased(parts[0]) == parameter ? parts[1] : nil
    }
  }

  /// Whether a line of `Forwarded` has a delimiter or an escape within quotation marks, or a string that does not end: another
  /// reader may split it in another way.
  static func isUnclear(_ line: String) -> Bool {
    var isQuoted = false
    for octet in line.utf8 {
      switch octet {
      case UInt8(ascii: "\""): isQuoted.toggle()
      case UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "\\"): if isQuoted { return true }
      default: break
      }
    }
    return isQuoted
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
