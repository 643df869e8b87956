package import HTTPTypes

/// The metadata of a QUERY's content, which is part of its key (RFC 10008 §2.7).
package enum QueryMetadata {
  /// The metadata of a request's content as octets that are equal only for equal metadata.
  ///
  /// Every field whose name begins with `Content-` counts (RFC 9110 §8.3 to §8.7), except those that follow
  /// from the content: its length and its digests. Values that are equal by definition become equal octets:
  /// letter case of media type, parameter names, `charset`, codings and languages; needless quotation marks;
  /// whitespace. The order of parameters stays.
  package static func canonical(_ fields: HTTPFields) -> [UInt8] {
    var names: Set<String> = []
    for field in fields where isMetadata(field.name.canonicalName) {
      names.insert(field.name.canonicalName)
    }
    var output: [UInt8] = []
    for text in names.sorted() {
      guard let name = HTTPField.Name(text) else { continue }
      append(Array(text.utf8), to: &output)
      append(value(of: name, in: fields), to: &output)
    }
    return output
  }

  private static func isMetadata(_ name: String) -> Bool {
    guard name.utf8.starts(with: "content-".utf8) else { return false }
    return name != "content-length" && name != "content-digest" && name != "content-md5"
  }

  /// Preceded by its length, so that different lists of values never give equal octets.
  private static func append(_ value: [UInt8], to output: inout [UInt8]) {
    withUnsafeBytes(of: UInt64(value.count).littleEndian) { output.append(contentsOf: $0) }
    output.append(contentsOf: value)
  }

  private static func value(of name: HTTPField.Name, in fields: HTTPFields) -> [UInt8] {
    if name == .contentEncoding || name == .contentLanguage {
      var value: [UInt8] = []
      fields.forEachMember(of: name) { member in
        if !value.isEmpty { value.append(UInt8(ascii: ",")) }
        value.append(contentsOf: member.lazy.map(\.lowercased))
      }
      return value
    }
    let octets = fields.combinedOctets(name)
    guard name == .contentType else { return octets }
    return octets.withUnsafeBufferPointer { mediaType($0) } ?? octets
  }

  /// A media type in its simplest form (RFC 9110 §8.3.1, §5.6.6); nil for any other value.
  static func mediaType(_ octets: Octets) -> [UInt8]? {
    var scanner = Scanner(octets: octets.trimmed())
    guard let type = scanner.token(), scanner.take("/"), let subtype = scanner.token() else {
      return nil
    }
    var output = type.map(\.lowercased) + [UInt8(ascii: "/")] + subtype.map(\.lowercased)
    scanner.skipWhitespace()
    while scanner.take(";") {
      scanner.skipWhitespace()
      if let name = scanner.token()?.map(\.lowercased) {
        guard scanner.take("="), var value = scanner.token().map(Array.init) ?? scanner.quoted() else {
          return nil
        }
        if name.elementsEqual("charset".utf8) { value = value.map(\.lowercased) }
        output += [UInt8(ascii: ";")] + name + [UInt8(ascii: "=")] + written(value)
      }
      scanner.skipWhitespace()
    }
    return scanner.isAtEnd ? output : nil
  }

  /// A parameter's value as a token if it can be one, else as a quoted string.
  private static func written(_ value: [UInt8]) -> [UInt8] {
    if !value.isEmpty, value.allSatisfy(\.isTokenOctet) { return value }
    var output = [UInt8(ascii: "\"")]
    for octet in value {
      if octet == UInt8(ascii: "\"") || octet == UInt8(ascii: "\\") { output.append(UInt8(ascii: "\\")) }
      output.append(octet)
    }
    return output + [UInt8(ascii: "\"")]
  }

  private struct Scanner {
    let octets: Octets
    var position = 0

    var isAtEnd: Bool { position == octets.count }

    mutating func take(_ octet: Unicode.Scalar) -> Bool {
      guard position < octets.count, octets[position] == UInt8(ascii: octet) else { return false }
      position += 1
      return true
    }

    mutating func skipWhitespace() {
      while position < octets.count, octets[position].isFieldWhitespace { position += 1 }
    }

    mutating func token() -> Octets? {
      let start = position
      while position < octets.count, octets[position].isTokenOctet { position += 1 }
      return position > start ? octets.part(start..<position) : nil
    }

    /// The content of a quoted string; nil if there is none or it does not end.
    mutating func quoted() -> [UInt8]? {
      guard take("\"") else { return nil }
      var value: [UInt8] = []
      while position < octets.count {
        var octet = octets[position]
        position += 1
        if octet == UInt8(ascii: "\"") { return value }
        if octet == UInt8(ascii: "\\") {
          guard position < octets.count else { return nil }
          octet = octets[position]
          position += 1
        }
        value.append(octet)
      }
      return nil
    }
  }
}
