import HTTPCacheSimulation
import Testing

/// Worlds whose processes share a tier.
@Suite(.timeLimit(.minutes(10))) struct FleetWorldTests {
  @Test("no interleaving breaks a rule")
  func rulesHold() {
    for seed in UInt64(1)...200 {
      for violation in Simulation.run(seed: seed, fleet: FleetPlan()).violations {
        Issue.record("simulate-races --fleet --seed \(seed): \(violation)")
      }
    }
  }

  @Test("each mistake in the protocol is found", arguments: FleetPlan.Mutation.allCases)
  func finds(_ mutation: FleetPlan.Mutation) {
    let scenario = Scenario.finding(mutation)
    let found = (UInt64(1)...3_000).contains { seed in
      Simulation.run(seed: seed, scenario: scenario, fleet: FleetPlan(mutation: mutation)).violations
        .contains { scenario.breaks.contains($0.kind) }
    }
    #expect(found, "simulate-races --scenario \(scenario.name) --mutation \(mutation.rawValue) finds nothing")
  }
}
