import HTTPCacheTestTraits
import HTTPCacheTesting
import Testing

/// Calls of `ReplayTrait.provideScope` from every isolation, with a closure that waits for what belongs to the caller.
/// Swift Testing's protocol declares the closure.
@Suite("The trait for replaying can be called from every isolation", .timeLimit(.minutes(5)))
struct IsolationTests {
  /// As the main function of a program.
  @MainActor private enum Program {
    static var count = 0

    static func main(_ test: Test) async throws -> Int {
      try await trait.provideScope(for: test, testCase: nil) { await note() }
      return count
    }

    static func note() { count += 1 }
  }

  @MainActor private final class Model {
    private var count = 0

    func run(_ test: Test) async throws -> Int {
      try await trait.provideScope(for: test, testCase: nil) { await self.note() }
      return count
    }

    private func note() { count += 1 }
  }

  private actor Runner {
    private var count = 0

    func run(_ test: Test) async throws -> Int {
      try await trait.provideScope(for: test, testCase: nil) { await self.note() }
      return count
    }

    private func note() { count += 1 }
  }

  private nonisolated func run(_ test: Test) async throws -> Int {
    let counter = Counter()
    try await trait.provideScope(for: test, testCase: nil) { counter.increment() }
    return counter.value
  }

  @Test("from a main function, a class of the main actor, an actor and a function without isolation")
  func isolations() async throws {
    let test = try #require(Test.current)
    #expect(try await Program.main(test) == 1)
    #expect(try await Model().run(test) == 1)
    #expect(try await Runner().run(test) == 1)
    #expect(try await run(test) == 1)
  }
}

private let trait = ReplayTrait.replaying("Recordings/names.har")
