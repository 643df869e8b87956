import Testing

@testable import HTTPCacheSimulation

/// Worlds whose processes share a tier.
@Suite(.timeLimit(.minutes(10))) struct FleetWorldTests {
  @Test("no interleaving breaks a rule")
  func rulesHold() {
    for seed in UInt64(1)...20 {
      for violation in Simulation.runFleet(seed: seed).violations {
        Issue.record("simulate-races --fleet --seed \(seed): \(violation)")
      }
    }
  }

  @Test("a seed makes the same steps each time")
  func sameSteps() {
    for seed in UInt64(1)...3 {
      #expect(Simulation.runFleet(seed: seed).digest == Simulation.runFleet(seed: seed).digest)
    }
  }
}
