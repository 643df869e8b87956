import HTTPTypes

/// Normalises the values of nominated fields, so that equivalent values become equal text (RFC 9111 §4.1).
/// Normalising twice gives the same result as once.
extension Vary {
  /// The value of a field that is present, all its lines combined.
  static func normalized(
    _ name: HTTPField.Name, in fields: HTTPFields, rules: CacheRules
  ) -> String {
    if rules.normalizesVary, isPreference(name),
      let text = withPreferences(name, in: fields, { $0.map { String(decoding: $0, as: UTF8.self) } })
    {
      return text
    }
    if rules.normalizesVary, name != .cookie {
      // A quoted string that one line leaves open goes on in the next (RFC 9110 §5.3).
      return fields.combinedOctets(name).withUnsafeBufferPointer { withoutListWhitespace($0) }
    }
    let separator = name == .cookie ? "; " : ", "
    var text = ""
    var isFirst = true
    for field in fields where field.name == name {
      if !isFirst { text += separator }
      isFirst = false
      field.withUnsafeBytesOfValue { text += $0.text }
    }
    return text
  }

  /// A value without the optional whitespace around commas outside of quoted strings (RFC 9110 §5.6.1).
  private static func withoutListWhitespace(_ octets: Octets) -> String {
    var output: [UInt8] = []
    output.reserveCapacity(octets.count)
    var isQuoted = false
    var index = 0
    while index < octets.count {
      let octet = octets[index]
      if isQuoted {
        if octet == UInt8(ascii: "\\"), index + 1 < octets.count {
          output.append(octet)
          index += 1
        } else if octet == UInt8(ascii: "\"") {
          isQuoted = false
        }
      } else if octet == UInt8(ascii: "\"") {
        isQuoted = true
      } else if octet == UInt8(ascii: ",") {
        while let last = output.last, last.isFieldWhitespace { output.removeLast() }
        while index + 1 < octets.count, octets[index + 1].isFieldWhitespace { index += 1 }
        output.append(octet)
        index += 1
        continue
      }
      output.append(octets[index])
      index += 1
    }
    return output.withUnsafeBufferPointer { $0.trimmed().text }
  }
}
