import HTTPCacheFaults
import HTTPCacheStore
import HTTPCacheTesting
import Testing

/// Calls of each public asynchronous function that takes a closure, from every isolation, with a closure that uses what
/// belongs to the caller. A function that cannot be called from there does not compile here.
@Suite("Functions with closures can be called from every isolation", .timeLimit(.minutes(5)))
struct IsolationTests {
  /// A type that must not leave its actor.
  private final class Count { var value = 0 }

  /// As the main function of a program.
  @MainActor private enum Program {
    static let count = Count()

    static func main() async throws -> Int {
      try await workload.run(on: MemoryStore(capacity: 1 << 20)) { _, _ in count.value += 1 }
      try await storeCheck.run { await makeStore($0) }
      try await tierCheck.run { await makeTier() }
      _ = try await CrashWorker.run([]) { _, _ in await makeStore(StoreRequirements()) }
      return count.value
    }

    static func makeStore(_ requirements: StoreRequirements) -> any CacheStore {
      count.value += 1
      return MemoryStore(capacity: requirements.capacity, clock: requirements.clock)
    }

    static func makeTier() -> TierSample {
      count.value += 1
      return tierSample()
    }
  }

  @MainActor private final class Model {
    private let count = Count()

    func run() async throws -> Int {
      try await workload.run(on: MemoryStore(capacity: 1 << 20)) { _, _ in count.value += 1 }
      try await storeCheck.run { await self.makeStore($0) }
      try await tierCheck.run { await self.makeTier() }
      _ = try await CrashWorker.run([]) { _, _ in await self.makeStore(StoreRequirements()) }
      return count.value
    }

    private func makeStore(_ requirements: StoreRequirements) -> any CacheStore {
      count.value += 1
      return MemoryStore(capacity: requirements.capacity, clock: requirements.clock)
    }

    private func makeTier() -> TierSample {
      count.value += 1
      return tierSample()
    }
  }

  private actor Runner {
    private let count = Count()

    func run() async throws -> Int {
      try await workload.run(on: MemoryStore(capacity: 1 << 20)) { _, _ in count.value += 1 }
      try await storeCheck.run { await self.makeStore($0) }
      try await tierCheck.run { await self.makeTier() }
      _ = try await CrashWorker.run([]) { _, _ in await self.makeStore(StoreRequirements()) }
      return count.value
    }

    private func makeStore(_ requirements: StoreRequirements) -> any CacheStore {
      count.value += 1
      return MemoryStore(capacity: requirements.capacity, clock: requirements.clock)
    }

    private func makeTier() -> TierSample {
      count.value += 1
      return tierSample()
    }
  }

  private nonisolated func run() async throws -> Int {
    let count = Count()
    let made = Counter()
    try await workload.run(on: MemoryStore(capacity: 1 << 20)) { _, _ in count.value += 1 }
    try await storeCheck.run { requirements in
      made.increment()
      return MemoryStore(capacity: requirements.capacity, clock: requirements.clock)
    }
    try await tierCheck.run {
      made.increment()
      return tierSample()
    }
    _ = try await CrashWorker.run([]) { _, clock in MemoryStore(capacity: 1 << 20, clock: clock) }
    return count.value + made.value
  }

  /// Five steps, each of which begins and ends, and a store and a tier made once; the worker without arguments makes none.
  @Test("from a main function, a class of the main actor, an actor and a function without isolation")
  func isolations() async throws {
    #expect(try await Program.main() == 12)
    #expect(try await Model().run() == 12)
    #expect(try await Runner().run() == 12)
    #expect(try await run() == 12)
  }
}

private let workload = StoreWorkload(seed: 1, count: 5)
private let storeCheck = StoreCheck("a store is made") { makeStore in
  _ = try await makeStore(StoreRequirements())
}
private let tierCheck = TierCheck("a tier is made") { _ in }

private func tierSample() -> TierSample {
  let clock = ManualClock(now: StoreSample.start)
  let server = LoopbackServer(clock: clock)
  return TierSample(first: LoopbackTier(server), second: LoopbackTier(server)) { clock.advance(by: $0) }
}
