import HTTPCacheSimulation
import Testing

/// Each scenario, in the order of steps of some seeds.
@Suite(.timeLimit(.minutes(10))) struct ScenarioTests {
  @Test("no interleaving of a scenario breaks a rule", arguments: Scenario.all)
  func rulesHold(scenario: Scenario) {
    let known = scenario.breaks.intersection(Violation.Kind.known)
    var found: Set<Violation.Kind> = []
    for seed in UInt64(1)...60 {
      for violation in Simulation.run(seed: seed, scenario: scenario).violations {
        found.insert(violation.kind)
        if !Violation.Kind.known.contains(violation.kind) {
          Issue.record("simulate-races --scenario \(scenario.name) --seed \(seed): \(violation)")
        }
      }
    }
    #expect(
      known.isSubset(of: found),
      "the cache does not break these rules any more: take them out of Violation.Kind.known")
  }

  @Test("scenarios have names of their own")
  func names() {
    #expect(Set(Scenario.all.map(\.name)).count == Scenario.all.count)
  }
}
