import HTTPTypes

/// The proxy's own entry in `Via` (RFC 9110 §7.6.3).
struct ViaField: Sendable {
  /// The proxy's name in `Via`; unique, so that a loop can be detected.
  let pseudonym: String
  /// The entry for a message that came in HTTP/1.1, made once.
  private let field: HTTPField

  /// Makes an entry with a unique name.
  init(name: String) {
    pseudonym = "\(name)-\(String(UInt64.random(in: .min ... .max), radix: 36))"
    field = Self.field(version: "1.1", pseudonym)
  }

  private static func field(version: String, _ pseudonym: String) -> HTTPField {
    HTTPField(name: .via, value: "\(version) \(pseudonym)")
  }

  /// Whether the message has passed this proxy before.
  func isLoop(_ fields: HTTPFields) -> Bool {
    fields[values: .via].contains { value in
      FieldList.members(value).contains { member in
        let parts = member.split(whereSeparator: { $0 == " " || $0 == "\t" })
        return parts.count > 1 && parts[1] == pseudonym
      }
    }
  }

  /// Adds the entry, last.
  ///
  /// - Parameter version: the version of HTTP in which the message came.
  func append(to fields: inout HTTPFields, version: String = "1.1") {
    // bounded: one field of a message.
    fields.append(version == "1.1" ? field : Self.field(version: version, pseudonym))
  }
}
