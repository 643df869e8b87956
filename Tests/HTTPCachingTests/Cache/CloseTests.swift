import Foundation
import HTTPCacheDisk
import HTTPCacheTesting
import HTTPCaching
import Testing

@Suite("A closed cache", .timeLimit(.minutes(10)))
struct CloseTests {
  private static let fresh: HTTPFields = [.cacheControl: "max-age=60"]

  private func closedErrors(_ kitchen: Kitchen) -> Int {
    kitchen.events.count {
      if case .storeFailed(_, let error) = $0 { error.code == .closed } else { false }
    }
  }

  @Test("each request is a miss that is told, and nothing is stored")
  func misses() async throws {
    let kitchen = Kitchen()
    kitchen.origin.always(200, Self.fresh, "a")
    try await kitchen.get("/")
    #expect(try await kitchen.get("/").outcome.isHit)
    await kitchen.cache.close()
    await kitchen.cache.close()
    for _ in 0..<2 {
      let before = closedErrors(kitchen)
      let answer = try await kitchen.get("/")
      #expect(answer.text == "a" && !answer.outcome.isHit)
      #expect(closedErrors(kitchen) > before)
    }
    #expect(kitchen.cache.peek(kitchen.request("/")) == nil)
    #expect(kitchen.origin.requests.count == 3)
    await #expect(throws: CacheError.self) { try await kitchen.cache.removeAll() }
    await #expect(throws: CacheError.self) { try await kitchen.cache.entries() }
  }

  @Test("a response that is on its way reaches its reader, and is not stored")
  func running() async throws {
    let kitchen = Kitchen()
    kitchen.origin.always(200, Self.fresh, "a")
    kitchen.origin.hold()
    async let answer = kitchen.get("/")
    await kitchen.origin.arrived(1)
    await kitchen.cache.close()
    kitchen.origin.release()
    #expect(try await answer.text == "a")
    #expect(closedErrors(kitchen) > 0)
  }

  @Test("counts are in the directory, which another store can open, and the store itself is closed")
  func directory() async throws {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("close-\(UUID())").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    let store = try DiskStore.open(directory: path)
    let kitchen = Kitchen(store: store)
    kitchen.origin.always(200, Self.fresh, "a")
    try await kitchen.get("/")
    try await kitchen.get("/")
    await kitchen.cache.close()
    let key = try #require(CacheKey(request: kitchen.request("/"), rules: CacheRules()))
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
    let other = try DiskStore.open(directory: path)
    #expect(
      try await other.counts() == CacheCounts(hits: 1, misses: 1, stores: 1, hitBytes: 1, originBytes: 1))
    #expect(try other.read(key).count == 1)
    await other.close()
  }
}
