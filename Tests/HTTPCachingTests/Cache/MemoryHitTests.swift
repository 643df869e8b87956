import HTTPCacheSealing
import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCacheTesting
import Synchronization
import Testing

@testable import HTTPCaching

@Suite("Memory hits: an answer that is sent again to equal requests", .timeLimit(.minutes(10)))
struct MemoryHitTests {
  private let test = TestCache()

  private func found(
    _ path: String = "/", _ fields: HTTPFields = [:], method: HTTPRequest.Method = .get, longest: Int = 100
  ) -> MemoryHit? {
    test.cache.memoryHit(
      for: test.request(path, fields, method: method), options: RequestOptions(), longestBody: longest)
  }

  private func hits() async throws -> Int64 { try await test.cache.store.counts().hits }

  @Test("a hit has the head and the body of the answer, and is counted when it is used")
  func used() async throws {
    try await test.store([.cacheControl: "max-age=60"], "body", age: 7)
    let hit = try #require(found())
    #expect(try await hits() == 0)
    #expect(test.cache.use(hit))
    #expect(test.cache.use(hit))
    let counts = try await test.cache.store.counts()
    #expect(counts.hits == 2)
    #expect(counts.hitBytes == 8)
    #expect(hit.body.array == Array("body".utf8))
    let answer = try #require(test.cache.peek(test.request("/")))
    #expect(answer.head == hit.head)
    #expect(answer.outcome == hit.outcome)
  }

  @Test("the next second needs another hit, because Age differs (RFC 9111 §5.1)")
  func nextSecond() async throws {
    try await test.store([.cacheControl: "max-age=60"], "body")
    let first = try #require(found())
    test.clock.advance(by: 1)
    #expect(!test.cache.use(first))
    #expect(try #require(found()).head.headerFields[.age] == "1")
    #expect(try await hits() == 0)
  }

  @Test("an invalidated, removed, replaced or freshened response is not used again")
  func changes() async throws {
    try await test.store([.cacheControl: "max-age=60", .eTag: "\"a\""], "body")
    let invalidated = try #require(found())
    try await test.cache.invalidate(.all)
    #expect(!test.cache.use(invalidated))
    try await test.get("/")
    let replaced = try #require(found())
    try await test.get("/", policy: .reload)
    #expect(!test.cache.use(replaced))
    let removed = try #require(found())
    try await test.cache.remove(.all)
    #expect(!test.cache.use(removed))
    try await test.get("/")
    let evicted = try #require(found())
    test.cache.store.trimMemory(to: 0)
    #expect(!test.cache.use(evicted))
    try await test.get("/")
    let closed = try #require(found())
    await test.cache.close()
    #expect(!test.cache.use(closed))
  }

  @Test("a change of another target leaves a hit as it is")
  func otherTarget() async throws {
    try await test.store([.cacheControl: "max-age=60"], "body")
    let hit = try #require(found())
    for number in 0..<100 { try await test.get("/\(number)") }
    try await test.cache.remove(.key(try #require(found("/5")).key))
    #expect(test.cache.use(hit))
  }

  @Test("RFC 9111 §4.4: over a directory, what an invalidation does not include is used on without a look-up")
  func notIncluded() async throws {
    let folder = try ScratchFolder()
    let cache = try HTTPCache.open(
      HTTPCache.Configuration(directory: folder.path("cache"), clock: test.clock))
    let upstream = ScriptedUpstream { _ in
      ScriptedResponse(
        status: 200, headers: ["Cache-Control": "max-age=60", "Cache-Groups": "\"g\""], body: "body")
    }
    let hit = {
      // The work after opening counts as a change of everything.
      while true {
        _ = try await cache.respond(to: test.request("/"), via: upstream).body.collect()
        let found = cache.memoryHit(for: test.request("/"), options: RequestOptions(), longestBody: 100)
        if let found, cache.use(found) { return found }
      }
    }
    let target = try #require(CacheKey.target(of: test.request("/")))
    for selection in [
      CacheSelection.target(target), .group(origin: CacheKey.origin(of: target), name: "g"), .all,
    ] {
      let found = try await hit()
      let uses = try #require(found.uses)
      for _ in 0..<2 {
        try await cache.invalidate(.target(target + "other"))
        #expect(cache.use(found))
        #expect(uses.compared > uses.generation.selections)
      }
      try await cache.invalidate(selection)
      #expect(!cache.use(found))
    }
    await cache.close()
  }

  @Test("under encryption over a store that tells of no changes, a removed response is not used again")
  func untold() async throws {
    let base = SilentLayer(base: MemoryStore(capacity: 1 << 20))
    let cipher = try CacheEncryption.key(try EncryptionKey(0..<32)).cipher(secret: base.secret)
    let cache = HTTPCache(
      configuration: test.cache.configuration, store: try SealedStore(base: base, cipher: cipher))
    let upstream = ScriptedUpstream { _ in
      ScriptedResponse(status: 200, headers: ["Cache-Control": "max-age=60"], body: "body")
    }
    let response = try await cache.respond(to: test.request("/"), via: upstream)
    _ = try await response.body.collect()
    let hit = try #require(
      cache.memoryHit(for: test.request("/"), options: RequestOptions(), longestBody: 100))
    try await cache.remove(.all)
    #expect(!cache.use(hit))
  }

  /// A layer of an app, which cannot tell of changes.
  private final class SilentLayer: StoreLayer {
    let base: any CacheStore
    init(base: any CacheStore) { self.base = base }
  }

  @Test("the store is told of uses when the hit is released: of the look-up at once, of at most 15 more then")
  func told() {
    final class Counter: UseCounter {
      let counts = Mutex<[Int]>([])
      func recordUses(_ uses: [KeyUses]) { counts.withLock { $0 += uses.map(\.count) } }
    }
    let counter = Counter()
    for uses in [0, 1, 2, 100] {
      let hit = RepeatedUses(
        of: StoreSample.key(), since: Generation(changes: 1), at: StoreSample.start, countedBy: counter)
      for _ in 0..<uses { hit.add() }
    }
    #expect(counter.counts.withLock { $0 } == [1, 15])
  }

  @Test("another variant of the target makes the fields that select matter")
  func variants() async throws {
    test.origin.always(200, [.cacheControl: "max-age=60", .vary: "Accept-Language"], "body")
    try await test.get("/", [.acceptLanguage: "de"])
    let german = try #require(found("/", [.acceptLanguage: "de"]))
    #expect(german.nominatedFields == [.acceptLanguage])
    #expect(found("/", [.acceptLanguage: "fr"]) == nil)
    try await test.get("/", [.acceptLanguage: "fr"])
    #expect(!test.cache.use(german))
  }

  @Test(
    "conditions, ranges and directives get the head and body of the answer (RFC 9110 §13, §14)",
    arguments: [
      ([.ifNoneMatch: "\"a\""], 304, ""), ([.ifNoneMatch: "\"b\""], 200, "body"),
      ([.range: "bytes=1-2"], 206, "od"), ([.range: "bytes=9-"], 416, ""),
      ([.range: "bytes=1-2", .ifRange: "\"b\""], 200, "body"),
      ([.cacheControl: "max-age=60"], 200, "body"), ([.cacheControl: "max-stale"], 200, "body"),
      ([.authorization: "Basic x"], 200, "body"), ([.range: "bytes=1-2", .ifNoneMatch: "*"], 304, ""),
    ] as [(HTTPFields, Int, String)])
  func asked(fields: HTTPFields, status: Int, body: String) async throws {
    try await test.store([.cacheControl: "max-age=60", .eTag: "\"a\""], "body", age: 7)
    let hit = try #require(found("/", fields))
    #expect(hit.head.status.code == status)
    #expect(hit.body.array == Array(body.utf8))
    let answer = try #require(test.cache.peek(test.request("/", fields)))
    #expect(answer.head == hit.head)
    #expect(answer.outcome == hit.outcome)
    let counted = try await test.cache.store.counts()
    #expect(test.cache.use(hit))
    let counts = try await test.cache.store.counts()
    #expect(counts.hits - counted.hits == counted.hits)
    #expect(counts.hitBytes - counted.hitBytes == counted.hitBytes)
  }

  @Test("a HEAD gets the head of the answer to a GET, without its body (RFC 9110 §9.3.2)")
  func head() async throws {
    try await test.store([.cacheControl: "max-age=60"], "body")
    let hit = try #require(found("/", method: .head))
    #expect(hit.body.isEmpty && hit.head.headerFields[.contentLength] == "4")
    #expect(test.cache.use(hit))
  }

  @Test(
    "other requests get no hit",
    arguments: [
      [.contentLength: "3"], [.ifMatch: "*"], [.pragmaTest: "no-cache"], [.cacheControl: "no-cache"],
      [.cacheControl: "max-age=6"], [.range: "bytes=0-0,2-2"],
    ] as [HTTPFields])
  func otherRequests(fields: HTTPFields) async throws {
    try await test.store([.cacheControl: "max-age=60", .eTag: "\"a\""], "body", age: 7)
    #expect(found("/", fields) == nil)
    #expect(found("/", longest: 3) == nil)
    #expect(found("/other") == nil)
    #expect(found() != nil)
  }
}
