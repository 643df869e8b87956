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

  /// Whether `token` is a member, ignoring case.
  static func contains(_ token: String, in value: String?) -> Bool {
    guard let value else { return false }
    return members(value).contains { lowercased($0) == token }
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
  var hosts: [String] { self[values: .hostField] }

  /// Removes `Host`.
  mutating func removeHost() { self[values: .hostField] = [] }
}
