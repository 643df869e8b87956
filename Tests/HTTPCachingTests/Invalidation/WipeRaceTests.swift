import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCacheTesting
import HTTPCaching
import HTTPTypes
import SealingTesting
import Testing

/// Wipes that come between two steps of a response.
@Suite(.timeLimit(.minutes(5)))
struct WipeRaceTests {
  private let fresh: HTTPFields = [.cacheControl: "max-age=60"]
  private let options = RequestOptions(partition: "account")

  /// A store whose wipe waits before it begins.
  private final class GatedStore: StoreLayer {
    let base: any CacheStore
    let gate = Gate()

    init(_ base: any CacheStore) { self.base = base }

    func wipe(mode: CacheMode, partition: String) async throws(CacheError) -> Int {
      try? await gate.pass()
      return try await base.wipe(mode: mode, partition: partition)
    }
  }

  /// A store in which another process wipes after each removal.
  private final class RemovingStore: StoreLayer {
    let base: any CacheStore
    let other: any CacheStore

    init(_ base: any CacheStore, other: any CacheStore) { (self.base, self.other) = (base, other) }

    func remove(_ selection: CacheSelection) async throws(CacheError) -> Int {
      let count = try await base.remove(selection)
      try await other.wipe(mode: .private, partition: "account")
      return count
    }
  }

  @Test("a transfer that begins while a wipe begins leaves no file when the wipe has returned")
  func beginning() async throws {
    let directory = try SealedDirectory()
    let disk = try directory.disk()
    let store = GatedStore(disk)
    let test = TestCache(store: store)
    let piece = Array(String(repeating: "secret-of-account ", count: 5_000).utf8)
    test.origin.streams(fresh) { _ in TestBody(piece: piece, count: 40, announced: 3_600_000) }
    async let wiped = test.cache.wipe(partition: "account")
    await store.gate.waitForArrivals(1)
    let response = try await test.cache.respond(to: test.request("/a"), options: options, via: test.origin)
    var count = try await response.body.source.next()?.count ?? 0
    store.gate.open()
    #expect(try await wiped == 0)
    #expect(try directory.found(["secret-of-account"]).isEmpty)
    while let bytes = try await response.body.source.next() { count += bytes.count }
    #expect(count == 3_600_000)
    #expect(disk.usage.diskEntries == 0)
  }

  @Test("§4.4 a response that removes what it replaces is not stored if a wipe comes after its own removal")
  func ownChange() async throws {
    let directory = try SealedDirectory()
    let store = RemovingStore(try directory.disk(), other: try directory.disk())
    let test = TestCache(rules: CacheRules(removesGone: true), store: store)
    test.origin.always(200, [.cacheControl: "max-age=10"], "old")
    try await test.get("/a", options: options)
    test.clock.advance(by: 20)
    test.origin.always(404, fresh, "gone")
    #expect(try await test.get("/a", options: options).text == "gone")
    #expect(try await store.entries(.all, after: nil, limit: 9).entries.isEmpty)
  }

  @Test("why it was not stored is not noted of what another process wiped", arguments: [false, true])
  func notes(whenRefusedAtOnce isRefused: Bool) async throws {
    let directory = try SealedDirectory()
    let (disk, other) = (try directory.disk(), try directory.disk())
    let test = TestCache(store: disk)
    let request = test.request("/a")
    if isRefused {
      test.origin.always(200, [.cacheControl: "no-store"], "text")
      test.origin.hold()
      async let waiting = test.get("/a", options: options)
      await test.origin.arrived(1)
      try await other.wipe(mode: .private, partition: "account")
      test.origin.release()
      #expect(try await waiting.text == "text")
    } else {
      test.origin.streams(fresh) { _ in
        TestBody(piece: [UInt8](repeating: 7, count: 100_000), count: 40, announced: 4_000_000, failsAt: 30)
      }
      let response = try await test.cache.respond(to: request, options: options, via: test.origin)
      _ = try await response.body.source.next()
      try await other.wipe(mode: .private, partition: "account")
      await #expect(throws: UpstreamError.self) { while try await response.body.source.next() != nil {} }
    }
    #expect(test.events.count { if case .notStored = $0 { true } else { false } } == 1)
    #expect(try test.cache.refusals(of: request, options: options).isEmpty)
    #expect(disk.usage.diskEntries == 0)
  }

  @Test("what is adopted while another process wipes is refused, without a note")
  func adopted() async throws {
    let directory = try SealedDirectory()
    let (disk, other) = (try directory.disk(), try directory.disk())
    let test = TestCache(store: disk) {
      $0.willStore = StoringHook { _, proposal in
        try await other.wipe(mode: .private, partition: "")
        return proposal
      }
    }
    let request = test.request("/a")
    let refusal = await test.cache.adopt(
      AdoptedResponse(
        HTTPResponse(status: .ok, headerFields: fresh), body: BodyBytes(Array("body".utf8)),
        isDecoded: false, userInfo: [], isMemoryOnly: false),
      to: request, asking: .concurrent(test.clock, executor: nil))
    #expect(refusal == .wiped)
    #expect(test.events.count { if case .storeFailed = $0 { true } else { false } } == 0)
    #expect(try test.cache.refusals(of: request).isEmpty)
  }
}
