/// A small world with a name, whose interleavings a seed chooses.
package struct Scenario: Sendable {
  /// The name, for the command line.
  package let name: String
  /// The rules that some of the interleavings broke before the mends of issue 12. As long as such a rule is
  /// among `Violation.Kind.known`, the simulator has to find the violation.
  package let breaks: Set<Violation.Kind>
  let plan: WorldPlan

  init(_ name: String, breaks: Set<Violation.Kind>, _ plan: WorldPlan) {
    self.name = name
    self.breaks = breaks
    self.plan = plan
  }
}

extension Violation.Kind {
  /// The rules that the cache is known to break. Take a rule out with its mend: from then on each violation
  /// of the rule is an error.
  package static let known: Set<Violation.Kind> = [
    .wrongVariant, .wrongHead, .late,
  ]
}
