import Foundation
import HTTPCacheTesting
import HTTPCaching
import Testing

@testable import HTTPCacheURLSession

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Hooks of a cache behind Apple's synchronous API.
@Suite(.timeLimit(.minutes(10))) struct HTTPURLCacheHookTests {
  private func cache(_ hook: StoringHook) -> HTTPURLCache {
    let configuration = HTTPCache.Configuration(willStore: hook)
    return HTTPURLCache(
      cache: HTTPCache(configuration: configuration, store: MemoryStore(capacity: 4 << 20)))
  }

  private func stored(in cache: HTTPURLCache, _ fields: [String: String] = [:]) throws -> CachedURLResponse? {
    let request = HTTPURLCacheTests.request()
    try cache.storeCachedResponse(HTTPURLCacheTests.response("one", fields), for: request)
    return cache.cachedResponse(for: request)
  }

  @Test func hookStrips() throws {
    let fields = ["Set-Cookie": "sid=A", "Cache-Control": "max-age=60"]
    let found = try #require(try stored(in: cache(.strippingAuthentication), fields))
    let response = try #require(found.response as? HTTPURLResponse)
    #expect(response.value(forHTTPHeaderField: "Set-Cookie") == nil)
    #expect(response.value(forHTTPHeaderField: "Cache-Control") == "max-age=60")
  }

  @Test func hookThatSuspendsIsAsked() throws {
    actor Judge {
      func allows(_ path: String?) -> Bool { path != "/a" }
    }
    let judge = Judge()
    let hook = StoringHook { request, proposal in
      await Task.yield()
      return await judge.allows(request.path) ? proposal : nil
    }
    #expect(try stored(in: cache(hook)) == nil)
  }

  @Test func hookThatNeverReturnsIsLeftAlone() throws {
    let gate = Gate()
    let hook = StoringHook { _, proposal in
      await Task.detached { try? await gate.pass() }.value
      return proposal
    }
    #expect(try stored(in: cache(hook)) == nil)
    gate.open()
  }

  @Test func callersThatTakeAllThreadsOfThePoolComeBack() async throws {
    let hook = StoringHook { _, proposal in
      await Task.detached { await Task.yield() }.value
      return proposal
    }
    let cache = cache(hook)
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<2 * ProcessInfo.processInfo.activeProcessorCount {
        group.addTask { _ = try? stored(in: cache) }
      }
    }
    // With the pool free again, a hook is called in time. But other tests may use all of the pool for a second.
    var heard = false
    for _ in 1...30 where !heard {
      cache.removeAllCachedResponses()
      heard = try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Result { try stored(in: cache) != nil }) }
      }
    }
    #expect(heard)
  }
}
