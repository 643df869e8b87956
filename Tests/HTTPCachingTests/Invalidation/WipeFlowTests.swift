import HTTPCacheTesting
import HTTPCaching
import SealingTesting
import Testing

@Suite("Accounts that are wiped", .timeLimit(.minutes(10)))
struct WipeFlowTests {
  private let fresh: HTTPFields = [.cacheControl: "max-age=60"]
  private let options = RequestOptions(partition: "account")

  @Test("all of the partition goes, and nothing of others")
  func wipe() async throws {
    let test = TestCache()
    test.origin.always(200, fresh, "text")
    for path in ["/a", "/b"] { try await test.get(path, options: options) }
    try await test.get("/a")
    #expect(try await test.cache.wipe(partition: "account") == 2)
    let kept = try await test.cache.store.entries(.all, after: nil, limit: 10).entries
    #expect(kept.map(\.record.key.partition) == [""])
    #expect(
      test.events.count {
        if case .wiped(partition: "account", count: 2) = $0 { true } else { false }
      } == 1)
    #expect(try await test.get("/a", options: options).text == "text")
  }

  @Test("what is on its way reaches its reader and is not stored, nor is it noted", arguments: [false, true])
  func onItsWay(whenAnotherStoreWipes isOther: Bool) async throws {
    let directory = try SealedDirectory()
    let disk = try directory.disk()
    let other = isOther ? try directory.disk() : nil
    let test = TestCache(store: disk)
    let piece = [UInt8](repeating: 7, count: 100_000)
    test.origin.streams(fresh) { _ in TestBody(piece: piece, count: 40, announced: 4_000_000) }
    let request = test.request("/a")
    let response = try await test.cache.respond(to: request, options: options, via: test.origin)
    var count = try await response.body.source.next()?.count ?? 0
    if let other {
      try await other.wipe(mode: .private, partition: "account")
    } else {
      #expect(try await test.cache.wipe(partition: "account") == 0)
    }
    while let bytes = try await response.body.source.next() { count += bytes.count }
    #expect(count == 4_000_000)
    #expect(try await test.cache.store.entries(.all, after: nil, limit: 10).entries.isEmpty)
    #expect(try test.cache.refusals(of: request, options: options).isEmpty)
    #expect(test.events.count { if case .notStored(_, .wiped) = $0 { true } else { false } } == 1)
  }

  @Test("what another partition is storing is stored")
  func others() async throws {
    let test = TestCache()
    test.origin.streams(fresh) { _ in
      TestBody(piece: [UInt8](repeating: 7, count: 1_000), count: 40, announced: 40_000)
    }
    let response = try await test.cache.respond(to: test.request("/a"), via: test.origin)
    try await test.cache.wipe(partition: "account")
    _ = try await response.body.collect()
    #expect(try await test.cache.store.entries(.all, after: nil, limit: 10).entries.count == 1)
  }

  @Test("memory is trimmed when the app is told to, and the capacity stays")
  func trimMemory() async throws {
    let test = TestCache()
    test.origin.always(200, fresh, "text")
    for number in 0..<20 { try await test.get("/\(number)") }
    let before = test.cache.store.usage
    test.cache.trimMemory(to: before.memoryBytes / 2)
    let after = test.cache.store.usage
    #expect(after.memoryBytes <= before.memoryBytes / 2)
    #expect(after.memoryEntries > 5)
    #expect(after.memoryCapacity == before.memoryCapacity)
    test.cache.trimMemory()
    #expect(test.cache.store.usage.memoryEntries == 0)
  }
}
