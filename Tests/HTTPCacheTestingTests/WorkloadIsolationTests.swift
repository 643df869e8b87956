import HTTPCacheStore
import HTTPCacheTesting
import Testing

/// Calls of `StoreWorkload.run` from every isolation, with a closure that uses what belongs to the caller. A function that
/// does not inherit the caller's isolation does not compile here.
@Suite("A workload can be run from every isolation", .timeLimit(.minutes(5))) struct WorkloadIsolationTests {
  /// A type that must not leave its actor.
  private final class Count { var value = 0 }

  /// As the main function of a program.
  @MainActor private enum Program {
    static func main() async throws -> Int {
      let count = Count()
      try await WorkloadIsolationTests.workload.run(on: MemoryStore(capacity: 1 << 20)) { _, _ in
        count.value += 1
      }
      return count.value
    }
  }

  @MainActor private final class Model {
    private let count = Count()

    func run() async throws -> Int {
      try await WorkloadIsolationTests.workload.run(on: MemoryStore(capacity: 1 << 20)) { _, _ in
        count.value += 1
      }
      return count.value
    }
  }

  private actor Runner {
    private let count = Count()

    func run() async throws -> Int {
      try await WorkloadIsolationTests.workload.run(on: MemoryStore(capacity: 1 << 20)) { _, _ in
        count.value += 1
      }
      return count.value
    }
  }

  private nonisolated func run() async throws -> Int {
    let count = Count()
    try await Self.workload.run(on: MemoryStore(capacity: 1 << 20)) { _, _ in count.value += 1 }
    return count.value
  }

  private static let workload = StoreWorkload(seed: 1, count: 5)

  @Test("from a main function, a class of the main actor, an actor and a function without isolation")
  func isolations() async throws {
    #expect(try await Program.main() == 10)
    #expect(try await Model().run() == 10)
    #expect(try await Runner().run() == 10)
    #expect(try await run() == 10)
  }
}
