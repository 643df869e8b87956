extension Scenario {
  /// The small worlds that have a name.
  package static let all: [Scenario] = []
}
