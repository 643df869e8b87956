import HTTPTypes

/// Splits fields with the syntax of `Cache-Control` into directives (RFC 9111 §5.2).
enum CacheControl {
  /// The argument of a directive.
  enum Argument {
    /// No argument.
    case none
    /// A token, or the inside of a quoted string: recipients accept both forms.
    case value(Octets)
    /// Neither of these. A malformed directive still restricts, but permits nothing.
    case malformed

    /// Whether there is no argument.
    var isNone: Bool { if case .none = self { true } else { false } }

    /// `delta-seconds` (§1.2.2); nil for any other value.
    var seconds: Int64? {
      if case .value(let octets) = self { octets.deltaSeconds } else { nil }
    }
  }

  /// Calls `body` with the name and the argument of each directive of one field line, in order.
  ///
  /// A quoted string without an end hides no directive: the directives after it count as malformed.
  static func forEachDirective(in octets: Octets, _ body: (Octets, Argument) -> Void) {
    var members = FieldMembers(octets)
    while let member = members.next() {
      let end = member.firstIndex { !$0.isTokenOctet } ?? member.count
      guard members.isUnterminated else {
        if end > 0 { body(member.part(0..<end), argument(member.part(end..<member.count))) }
        continue
      }
      var rest = member
      while true {
        let name = rest.part(0..<(rest.firstIndex { !$0.isTokenOctet } ?? rest.count))
        if name.count > 0 { body(name, .malformed) }
        guard let comma = rest.firstIndex(of: UInt8(ascii: ",")) else { break }
        rest = rest.part((comma + 1)..<rest.count).trimmed()
      }
    }
  }

  private static func argument(_ rest: Octets) -> Argument {
    if rest.isEmpty { return .none }
    guard rest[0] == UInt8(ascii: "="), rest.count > 1 else { return .malformed }
    let value = rest.part(1..<rest.count)
    if value[0] == UInt8(ascii: "\"") {
      guard value.count > 1, value[value.count - 1] == UInt8(ascii: "\"") else { return .malformed }
      return .value(value.part(1..<(value.count - 1)))
    }
    return value.allSatisfy { $0.isTokenOctet } ? .value(value) : .malformed
  }
}
