import Foundation
import HTTPCacheTesting
import Testing

@testable import HTTPCacheURLSession
@testable import HTTPCaching

/// Hooks of a cache behind Apple's synchronous API.
@Suite(.timeLimit(.minutes(10))) struct HTTPURLCacheHookTests {
  private func cache(_ hook: StoringHook) -> HTTPURLCache {
    let configuration = HTTPCache.Configuration(willStore: hook)
    return HTTPURLCache(
      cache: HTTPCache(configuration: configuration, store: MemoryStore(capacity: 4 << 20)))
  }

  /// A hook without a time limit: on a busy machine, another one may exceed its second.
  private static func immediate(_ change: @escaping @Sendable (inout ProposedRecord) -> Void) -> StoringHook {
    StoringHook(
      .immediate { _, proposal in
        var proposal = proposal
        change(&proposal)
        return proposal
      })
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

  @Test(arguments: [
    "Authorization", "Proxy-Authorization", "Cookie", "WWW-Authenticate", "Authentication-Info",
  ])
  func hookStripsCredentialsThatAnOriginRepeats(_ name: String) throws {
    let found = try #require(
      try stored(in: cache(.strippingAuthentication), [name: "secret", "Cache-Control": "max-age=60"]))
    #expect((found.response as? HTTPURLResponse)?.value(forHTTPHeaderField: name) == nil)
  }

  @Test func bytesOfAHookAndOfACallerAreBothSeen() throws {
    let hook = Self.immediate { $0.userInfo = Array("hook".utf8) }
    let cache = cache(hook)
    let request = HTTPURLCacheTests.request()
    let response = try HTTPURLCacheTests.response("one", ["Cache-Control": "max-age=60"])
    for info in [nil, ["mine": "caller"]] as [[AnyHashable: Any]?] {
      cache.storeCachedResponse(
        CachedURLResponse(
          response: response.response, data: response.data, userInfo: info, storagePolicy: .allowed),
        for: request)
      let found = try #require(cache.cachedResponse(for: request)?.userInfo)
      #expect(found[HTTPURLCache.hookUserInfoKey] as? Data == Data("hook".utf8))
      #expect(found["mine"] as? String == info?["mine"] as? String)
      #expect(found.count == (info == nil ? 1 : 2))
      // A response of the cache can be stored again.
      cache.storeCachedResponse(try #require(cache.cachedResponse(for: request)), for: request)
      #expect(cache.cachedResponse(for: request)?.userInfo?.count == found.count)
      #expect(cache.cache.peek(try HTTPRequest(request))?.userInfo == Array("hook".utf8))
    }
  }

  @Test func aHookEditsTheDictionaryOfACaller() throws {
    let hook = Self.immediate { $0.userInfo = [] }
    let cache = cache(hook)
    let request = HTTPURLCacheTests.request()
    let response = try HTTPURLCacheTests.response("one", ["Cache-Control": "max-age=60"])
    cache.storeCachedResponse(
      CachedURLResponse(
        response: response.response, data: response.data, userInfo: ["mine": "caller"],
        storagePolicy: .allowed),
      for: request)
    let found = try #require(cache.cachedResponse(for: request))
    #expect(found.userInfo?.isEmpty ?? true)
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

  @Test func hookThatIsCancelledGoesOn() async throws {
    // The sleep ends when the hook is cancelled; the hook then waits again.
    let gate = Gate()
    let hook = StoringHook { _, proposal in
      try? await Task.sleep(for: .seconds(600))
      await Task.yield()
      try? await Task.detached { try await gate.pass() }.value
      return proposal
    }
    #expect(try stored(in: cache(hook)) == nil)
    await gate.waitForArrivals(1)
    gate.open()
  }

  @Test func hookThatKeepsItsThreadIsLeftAlone() throws {
    let isOver = DispatchSemaphore(value: 0)
    @Sendable func keepThread() { isOver.wait() }
    let hook = StoringHook { _, proposal in
      await Task.yield()
      keepThread()
      return proposal
    }
    #expect(try stored(in: cache(hook)) == nil)
    isOver.signal()
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
