import HTTPTypes

/// Splits fields with the syntax of `Cache-Control` into directives (RFC 9111 §5.2).
enum CacheControl {
  enum Argument {
    /// No argument.
    case none
    /// A token, or the inside of a quoted string: recipients accept both forms.
    case value(Octets)
    /// Neither of these. A malformed directive still restricts, but permits nothing.
    case malformed

    var isNone: Bool { if case .none = self { true } else { false } }

    var isMalformed: Bool { if case .malformed = self { true } else { false } }

    /// `delta-seconds` (§1.2.2); nil for any other value.
    var seconds: Int64? {
      if case .value(let octets) = self { octets.deltaSeconds } else { nil }
    }
  }

  /// Calls `body` with the name and the argument of each directive of one field line, in order.
  ///
  /// Malformed text hides no directive: each of its tokens counts as a malformed directive. So the `private` of
  /// `max-age=60; private`, of `"private"` and of `a="b, private` restricts.
  static func forEachDirective(in octets: Octets, _ body: (Octets, Argument) -> Void) {
    var members = FieldMembers(octets)
    while let member = members.next() {
      let end = member.firstIndex { !$0.isTokenOctet } ?? member.count
      let argument = argument(member.part(end..<member.count))
      if end > 0, !argument.isMalformed, !members.isUnterminated {
        body(member.part(0..<end), argument)
      } else {
        forEachToken(in: member) { body($0, .malformed) }
      }
    }
  }

  private static func forEachToken(in octets: Octets, _ body: (Octets) -> Void) {
    var rest = octets
    while let start = rest.firstIndex(where: \.isTokenOctet) {
      rest = rest.part(start..<rest.count)
      let end = rest.firstIndex { !$0.isTokenOctet } ?? rest.count
      body(rest.part(0..<end))
      rest = rest.part(end..<rest.count)
    }
  }

  private static func argument(_ rest: Octets) -> Argument {
    if rest.isEmpty { return .none }
    guard rest[0] == UInt8(ascii: "="), rest.count > 1 else { return .malformed }
    let value = rest.part(1..<rest.count)
    if value[0] == UInt8(ascii: "\"") {
      guard value.isQuotedString else { return .malformed }
      return .value(value.part(1..<(value.count - 1)))
    }
    return value.allSatisfy { $0.isTokenOctet } ? .value(value) : .malformed
  }
}
