import HTTPCacheTesting
import Testing

@Suite("The tier in memory does what every tier has to", .timeLimit(.minutes(10)))
struct LoopbackTierTests {
  @Test("conforms", arguments: SharedTierConformance.checks)
  func conforms(_ check: TierCheck) async throws {
    try await check.run {
      let clock = ManualClock(now: StoreSample.start)
      let server = LoopbackServer(clock: clock)
      return TierSample(first: LoopbackTier(server), second: LoopbackTier(server)) { clock.advance(by: $0) }
    }
  }
}

@Suite("SharedTierConformance finds tiers that do not conform", .timeLimit(.minutes(10)))
struct SharedTierConformanceTests {
  private func failing(_ fault: BrokenTier.Fault) async -> [String] {
    var names: [String] = []
    for check in SharedTierConformance.checks {
      do {
        try await check.run {
          let clock = ManualClock(now: StoreSample.start)
          let server = LoopbackServer(clock: clock)
          return TierSample(
            first: BrokenTier(LoopbackTier(server), fault), second: BrokenTier(LoopbackTier(server), fault)
          ) { clock.advance(by: $0) }
        }
      } catch { names.append("\(check.name): \(error)") }
    }
    return names
  }

  @Test("finds no fault where there is none")
  func none() async { #expect(await failing(.none) == []) }

  @Test("finds every fault", arguments: BrokenTier.Fault.allCases.filter { $0 != .none })
  func finds(_ fault: BrokenTier.Fault) async { #expect(!(await failing(fault).isEmpty)) }
}
