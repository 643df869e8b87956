/// A small world with a name, whose interleavings a seed chooses.
package struct Scenario: Sendable {
  /// The name, for the command line.
  package let name: String
  /// The rules that some of the interleavings broke before they were mended.
  package let breaks: Set<Violation.Kind>
  /// The rules that some of the interleavings still break. A mend takes its rule out.
  package let known: Set<Violation.Kind>
  let plan: WorldPlan

  init(
    _ name: String, breaks: Set<Violation.Kind>, known: Set<Violation.Kind> = [], _ plan: WorldPlan
  ) {
    self.name = name
    self.breaks = breaks
    self.known = known
    self.plan = plan
  }
}

extension Violation.Kind {
  /// The rules that the cache is known to break in any world. A mend takes its rule out: from then on each
  /// violation of the rule is an error.
  package static let known: Set<Violation.Kind> = []
}
