import HTTPCacheSemantics
import HTTPTypes

/// Comma-separated lists of tokens (RFC 9110 §5.6.1). The rules read lists with quoted strings; here a quotation mark
/// hides no comma, so that no reader frames a message in another way.
enum FieldList {
  /// The members of a list of tokens, without white space and empty members.
  static func members(_ value: some StringProtocol) -> [String] {
    value.utf8.split(separator: 0x2C).compactMap { part in
      let trimmed = part.drop { $0 == 0x20 || $0 == 0x09 }.reversed()
        .drop { $0 == 0x20 || $0 == 0x09 }.reversed()
      return trimmed.isEmpty ? nil : String(decoding: Array(trimmed), as: UTF8.self)
    }
  }

  /// Whether `token` is a member of one of the lines of a field, ignoring case.
  ///
  /// - Parameter token: letters in lower case, digits and hyphens.
  static func contains(_ token: StaticString, in fields: HTTPFields, _ name: HTTPField.Name) -> Bool {
    var next = fields.firstIndex(of: name)
    while let index = next {
      if fields[index].withUnsafeBytesOfValue({ contains(token, in: UnsafeRawBufferPointer($0)) }) {
        return true
      }
      next = fields.firstIndex(of: name, from: index + 1)
    }
    return false
  }

  private static func contains(_ token: StaticString, in octets: UnsafeRawBufferPointer) -> Bool {
    var start = 0
    while start < octets.count {
      var end = start
      while end < octets.count, octets[end] != 0x2C { end += 1 }
      let next = end + 1
      while start < end, FieldParser.isBlank(octets[start]) { start += 1 }
      while end > start, FieldParser.isBlank(octets[end - 1]) { end -= 1 }
      if isEqual(octets[start..<end], token) { return true }
      start = next
    }
    return false
  }

  private static func isEqual(_ octets: Slice<UnsafeRawBufferPointer>, _ token: StaticString) -> Bool {
    guard octets.count == token.utf8CodeUnitCount else { return false }
    return zip(octets, 0..<octets.count).allSatisfy { octet, index in
      ((0x41...0x5A).contains(octet) ? octet | 0x20 : octet) == token.utf8Start[index]
    }
  }

  /// The text before the first delimiter (or all of `text`), without white space around it.
  ///
  /// - Parameter delimiter: an ASCII character.
  static func token(before delimiter: Unicode.Scalar, in text: String) -> String {
    let delimiter = UInt8(ascii: delimiter)
    return members(Substring(text.utf8.prefix { $0 != delimiter })).first ?? ""
  }

  /// Lower-cases A to Z only. By the rules of Unicode the Kelvin sign would become a k, and a coding that the next
  /// reader does not know would become `chunked`.
  static func lowercased(_ text: some StringProtocol) -> String {
    String(decoding: text.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
  }
}

extension HTTPField.Name {
  /// swift-http-types makes its own name for `Host` unavailable, because there it is the authority.
  static let hostField = Self("Host") ?? .via
}

extension HTTPFields {
  /// The values of `Host`.
  var hosts: [String] { firstIndex(of: .hostField) == nil ? [] : self[values: .hostField] }
}
