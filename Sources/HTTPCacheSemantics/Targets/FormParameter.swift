/// One decoded parameter of a query in the format of forms (`application/x-www-form-urlencoded`, WHATWG URL).
package struct FormParameter: Sendable, Hashable {
  let name: [UInt8]
  let value: [UInt8]

  package init(name: [UInt8], value: [UInt8]) {
    self.name = name
    self.value = value
  }

  /// The parameters of a query without its `?`, in order; empty parameters are skipped.
  package static func list(_ query: some Sequence<UInt8>) -> [FormParameter] {
    Array(query).split(separator: UInt8(ascii: "&")).map { part in
      guard let equals = part.firstIndex(of: UInt8(ascii: "=")) else {
        return FormParameter(name: decoded(part), value: [])
      }
      return FormParameter(
        name: decoded(part[..<equals]), value: decoded(part[part.index(after: equals)...]))
    }
  }

  /// Decodes `+` and percent-encoding; invalid UTF-8 becomes U+FFFD.
  static func decoded(_ octets: ArraySlice<UInt8>) -> [UInt8] {
    var output: [UInt8] = []
    output.reserveCapacity(octets.count)
    var index = octets.startIndex
    while index < octets.endIndex {
      if let value = TargetURI.triplet(octets, at: index) {
        output.append(value)
        index += 3
      } else {
        output.append(octets[index] == UInt8(ascii: "+") ? 0x20 : octets[index])
        index += 1
      }
    }
    return Array(String(decoding: output, as: UTF8.self).utf8)
  }

  /// Appends the parameter with the percent-encoding of a normalised URI (RFC 3986 §6.2.2); decoding reverses
  /// it.
  func append(to output: inout [UInt8]) {
    TargetURI.appendEncoded(name, to: &output)
    output.append(UInt8(ascii: "="))
    TargetURI.appendEncoded(value, to: &output)
  }
}
