import AsyncHTTPClient
import HTTPCacheAsyncHTTPClient
import HTTPCaching
import Testing

/// Calls of `withClient` from every isolation, with a closure that uses what belongs to the caller. A function that does
/// not inherit the caller's isolation does not compile here.
@Suite("withClient can be called from every isolation", .timeLimit(.minutes(5)))
struct IsolationTests {
  /// A type that must not leave its actor.
  private final class Count { var value = 0 }

  /// As the main function of a program.
  @MainActor private enum Program {
    static func main() async throws -> Int {
      let count = Count()
      try await CachedHTTPClient.withClient(cache: try HTTPCache.open(HTTPCache.Configuration())) { client in
        count.value += client.redirectLimit
      }
      return count.value
    }
  }

  @MainActor private final class Model {
    private let count = Count()

    func load() async throws -> Int {
      try await CachedHTTPClient.withClient(cache: try HTTPCache.open(HTTPCache.Configuration())) { client in
        count.value += client.redirectLimit
        return count.value
      }
    }
  }

  private actor Loader {
    private let count = Count()

    func load() async throws -> Int {
      try await CachedHTTPClient.withClient(cache: try HTTPCache.open(HTTPCache.Configuration())) { client in
        count.value += client.redirectLimit
        return count.value
      }
    }
  }

  private nonisolated func load() async throws -> Int {
    let count = Count()
    let cache = try HTTPCache.open(HTTPCache.Configuration())
    let result = try await CachedHTTPClient.withClient(cache: cache) { client in
      count.value += client.redirectLimit
      return count
    }
    return result.value
  }

  @Test("from a main function, a class of the main actor, an actor and a function without isolation")
  func isolations() async throws {
    #expect(try await Program.main() == 20)
    #expect(try await Model().load() == 20)
    #expect(try await Loader().load() == 20)
    #expect(try await load() == 20)
  }
}
