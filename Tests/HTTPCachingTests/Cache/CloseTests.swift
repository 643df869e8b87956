import HTTPCacheDisk
import HTTPCacheTesting
import HTTPCaching
import Testing

@Suite("A closed cache", .timeLimit(.minutes(10)))
struct CloseTests {
  private static let fresh: HTTPFields = [.cacheControl: "max-age=60"]

  private func closedErrors(_ test: TestCache<TestOrigin>) -> Int {
    test.events.count {
      if case .storeFailed(_, let error) = $0 { error.code == .closed } else { false }
    }
  }

  @Test("each request is a miss that is told, and nothing is stored")
  func misses() async throws {
    let test = TestCache()
    try await test.store(Self.fresh, "a")
    #expect(try await test.get("/").outcome.isHit)
    await test.cache.close()
    await test.cache.close()
    for _ in 0..<2 {
      let before = closedErrors(test)
      let answer = try await test.get("/")
      #expect(answer.text == "a" && !answer.outcome.isHit)
      #expect(closedErrors(test) > before)
    }
    #expect(test.cache.peek(test.request("/")) == nil)
    #expect(test.origin.requests.count == 3)
    await #expect(throws: CacheError.self) { try await test.cache.removeAll() }
    await #expect(throws: CacheError.self) { try await test.cache.entries() }
  }

  @Test("a response that is on its way reaches its reader, and is not stored")
  func running() async throws {
    let test = TestCache()
    test.origin.always(200, Self.fresh, "a")
    test.origin.hold()
    async let answer = test.get("/")
    await test.origin.arrived(1)
    await test.cache.close()
    test.origin.release()
    #expect(try await answer.text == "a")
    #expect(closedErrors(test) > 0)
  }

  @Test("counts are in the directory, which another store can open, and the store itself is closed")
  func directory() async throws {
    let folder = try ScratchFolder()
    let store = try DiskStore.open(directory: folder.path("cache"))
    let test = TestCache(store: store)
    try await test.store(Self.fresh, "a")
    try await test.get("/")
    await test.cache.close()
    let key = try #require(CacheKey(request: test.request("/"), rules: CacheRules()))
    for use in [{ _ = try store.read(key) }, { _ = try store.refusals(of: key) }] {
      do {
        try use()
        Issue.record("the store is open")
      } catch let error as CacheError { #expect(error.code == .closed) }
    }
    do throws(CacheError) {
      _ = try await store.write(StoreSample.record(key), variantLimit: 1).commit(trailers: [:])
      Issue.record("the store is open")
    } catch { #expect(error.code == .closed) }
    let other = try DiskStore.open(directory: folder.path("cache"))
    #expect(
      try await other.counts() == CacheCounts(hits: 1, misses: 1, stores: 1, hitBytes: 1, originBytes: 1))
    #expect(try other.read(key).count == 1)
    await other.close()
  }
}
