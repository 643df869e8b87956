/// The argument of a directive, as the directive's kind of argument has it.
enum DirectiveArgument: Equatable {
  enum Kind {
    /// No argument.
    case nothing
    /// `delta-seconds` (RFC 9111 §1.2.2).
    case seconds
    /// Nothing, or a list of field names (RFC 9111 §5.2.2.4, §5.2.2.7).
    case fieldNames
  }

  /// No argument.
  case none
  /// A number of seconds.
  case seconds(Int64)
  /// At least one field name, in lower case.
  case fieldNames([String])
  /// A well-formed argument of another kind.
  case other
  /// Neither of these. A malformed directive still restricts, but permits nothing.
  case malformed

  /// Reads an argument of `Cache-Control`.
  init(_ argument: CacheControl.Argument, as kind: Kind) {
    switch (argument, kind) {
    case (.none, _): self = .none
    case (.malformed, _): self = .malformed
    case (.value, .nothing): self = .other
    case (.value(let octets), .seconds): self = octets.deltaSeconds.map { .seconds($0) } ?? .malformed
    case (.value(let octets), .fieldNames): self = .init(names: Self.names(in: octets))
    }
  }

  /// An argument of field names; malformed if there are none.
  init(names: [String]) { self = names.isEmpty ? .malformed : .fieldNames(names) }

  /// The number of seconds; nil for anything else.
  var seconds: Int64? { if case .seconds(let seconds) = self { seconds } else { nil } }

  /// The field names; empty for anything else, which then concerns the whole response.
  var names: [String] { if case .fieldNames(let names) = self { names } else { [] } }

  /// The names in a list, in lower case; empty if the list is so long or so malformed that the directive counts
  /// as unqualified.
  static func names(in octets: Octets) -> [String] {
    var names: [String] = []
    var members = FieldMembers(octets)
    while let member = members.next() {
      guard member.allSatisfy({ $0.isTokenOctet }), names.count < 64 else { return [] }
      names.append(member.lowercasedText)
    }
    return names
  }
}
