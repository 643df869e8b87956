import HTTPTypes

/// A predicate over requests. Predicates with equal names are equal.
struct NamedPredicate: Sendable, Hashable {
  let name: String
  let holds: @Sendable (HTTPRequest) -> Bool

  static func == (lhs: Self, rhs: Self) -> Bool { lhs.name == rhs.name }

  func hash(into hasher: inout Hasher) { hasher.combine(name) }
}
