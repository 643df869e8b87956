import HTTPTypes

/// The proxy's own entry in `Via` (RFC 9110 §7.6.3).
struct ViaField: Sendable {
  /// What the proxy is called there: a name nobody else has, so that a loop shows.
  let pseudonym: String

  /// Makes an entry with a name of its own.
  init(name: String) {
    pseudonym = "\(name)-\(String(UInt64.random(in: .min ... .max), radix: 36))"
  }

  /// Whether the message was here before.
  func isLoop(_ fields: HTTPFields) -> Bool {
    fields[values: .via].contains { value in
      FieldList.members(value).contains { member in
        let parts = member.split(whereSeparator: { $0 == " " || $0 == "\t" })
        return parts.count > 1 && parts[1] == pseudonym
      }
    }
  }

  /// Adds the entry, last.
  func append(to fields: inout HTTPFields, minorVersion: Int = 1) {
    fields.append(HTTPField(name: .via, value: "1.\(minorVersion) \(pseudonym)"))
  }
}
