import HTTPTypes

/// A predicate over requests, equal to others of its name.
struct NamedPredicate: Sendable, Hashable {
  let name: String
  let holds: @Sendable (HTTPRequest) -> Bool

  static func == (lhs: Self, rhs: Self) -> Bool { lhs.name == rhs.name }

  func hash(into hasher: inout Hasher) { hasher.combine(name) }
}
