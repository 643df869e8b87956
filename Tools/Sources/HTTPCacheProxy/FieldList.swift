/// Comma-separated lists (RFC 9110 §5.6.1).
enum FieldList {
  /// The members of a list of tokens, without white space and empty ones.
  static func members(_ value: some StringProtocol) -> [String] {
    value.utf8.split(separator: 0x2C).compactMap { part in
      let trimmed = part.drop { $0 == 0x20 || $0 == 0x09 }.reversed()
        .drop { $0 == 0x20 || $0 == 0x09 }.reversed()
      return trimmed.isEmpty ? nil : String(decoding: Array(trimmed), as: UTF8.self)
    }
  }

  /// Whether `token` is a member, whatever its case.
  static func contains(_ token: String, in value: String?) -> Bool {
    guard let value else { return false }
    return members(value).contains { $0.lowercased() == token }
  }
}
