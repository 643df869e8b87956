/// One range of a `Range` field in octets (RFC 9110 §14.1.2).
enum RangeSpecifier {
  /// From one octet to another or to the end.
  case from(Int64, through: Int64)
  /// This number of octets at the end.
  case suffix(Int64)

  /// Parses a field value, nil if it is invalid, in another unit or has too many ranges.
  static func parse(_ octets: Octets) -> [RangeSpecifier]? {
    guard let equals = octets.firstIndex(of: UInt8(ascii: "=")),
      octets.part(0..<equals).isCaseInsensitively("bytes")
    else { return nil }
    var specifiers: [RangeSpecifier] = []
    var members = FieldMembers(octets.part((equals + 1)..<octets.count))
    while let member = members.next() {
      guard specifiers.count < RangeRequest.rangeLimit, let specifier = specifier(member) else {
        return nil
      }
      specifiers.append(specifier)
    }
    return specifiers.isEmpty ? nil : specifiers
  }

  private static func specifier(_ member: Octets) -> RangeSpecifier? {
    guard let dash = member.firstIndex(of: UInt8(ascii: "-")) else { return nil }
    let last = member.part((dash + 1)..<member.count)
    if dash == 0 { return last.decimal.map { .suffix($0) } }
    guard let first = member.part(0..<dash).decimal else { return nil }
    if last.isEmpty { return .from(first, through: .max) }
    guard let end = last.decimal, end >= first else { return nil }
    return .from(first, through: end)
  }

  /// The octets, if they do not depend on the length; else nil.
  var fixed: Range<Int64>? {
    if case .from(let first, let last) = self, last < .max { return first..<(last + 1) }
    return nil
  }

  /// The octets of a representation of this length, nil if the range is not satisfiable.
  func resolved(length: Int64) -> Range<Int64>? {
    switch self {
    case .from(let first, let last):
      first < length ? first..<min(last.saturatingAdd(1), length) : nil
    case .suffix(let count):
      count > 0 && length > 0 ? max(0, length - count)..<length : nil
    }
  }
}
