package import HTTPTypes

/// The `Content-Range` of a message (RFC 9110 §14.4), in bytes.
package enum ContentRange: Sendable, Hashable {
  /// These octets of a representation; `length` is the length of all of it, nil if unknown.
  case part(Range<Int64>, length: Int64?)
  /// No octets, of a representation of this length (416).
  case unsatisfied(length: Int64)

  /// Reads the field of a response.
  ///
  /// - Returns: nil if the field is absent, repeated, not in `bytes`, or invalid: a last position before the
  ///   first, or beyond the complete length. The message must then not be combined with others.
  package init?(_ fields: HTTPFields) {
    guard let field = fields.only(.contentRange),
      let range = field.withUnsafeBytesOfValue({ ContentRange($0.trimmed()) })
    else { return nil }
    self = range
  }

  private init?(_ octets: Octets) {
    guard octets.count > 6, octets.part(0..<5).isCaseInsensitively("bytes"), octets[5] == 0x20
    else { return nil }
    let rest = octets.part(6..<octets.count)
    guard let slash = rest.firstIndex(of: UInt8(ascii: "/")) else { return nil }
    let positions = rest.part(0..<slash)
    let complete = rest.part((slash + 1)..<rest.count)
    let isUnknown = complete.count == 1 && complete[0] == UInt8(ascii: "*")
    let length = isUnknown ? nil : complete.decimal
    guard isUnknown || length != nil else { return nil }
    if positions.count == 1, positions[0] == UInt8(ascii: "*") {
      guard let length else { return nil }
      self = .unsatisfied(length: length)
      return
    }
    guard let dash = positions.firstIndex(of: UInt8(ascii: "-")),
      let first = positions.part(0..<dash).decimal,
      let last = positions.part((dash + 1)..<positions.count).decimal,
      first <= last, last < length ?? .max
    else { return nil }
    self = .part(first..<(last + 1), length: length)
  }
}
