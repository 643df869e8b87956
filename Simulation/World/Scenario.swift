/// A small world with a name, whose interleavings a seed chooses.
package struct Scenario: Sendable {
  /// The name, for the command line.
  package let name: String
  let plan: WorldPlan
}
