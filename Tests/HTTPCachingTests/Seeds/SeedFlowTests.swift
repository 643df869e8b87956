import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCacheTesting
import HTTPCaching
import Testing

@Suite("A cache with seeds", .timeLimit(.minutes(10)))
struct SeedFlowTests {
  private func test(_ fields: HTTPFields, _ text: String = "seed", age: Int64 = 3600) throws -> TestCache<
    TestOrigin
  > {
    let time = Timestamp(seconds: 1_700_000_000).adding(.seconds(-age))
    let seed = try #require(ListedSeeds.seed("https://example.com/", fields: fields, text: text, at: time))
    return TestCache { $0.seeds = [ListedSeeds([seed])] }
  }

  @Test("offline, a seed without times answers stale")
  func offline() async throws {
    let test = try test([:])
    test.origin.fails(.unreachable)
    let answer = try await test.respond("/")
    #expect(try await answer.body.collect().array == Array("seed".utf8))
    #expect(
      answer.outcome == .hit(age: .seconds(3600), lifetime: .zero, allowance: .disconnected))
    #expect(answer.isFromSeed)
    #expect(answer.storedAt == Timestamp(seconds: 1_699_996_400))
    #expect(test.origin.requests.count == 1)
  }

  @Test("Cache-Status tells of the seed")
  func cacheStatus() async throws {
    let time = Timestamp(seconds: 1_699_999_990)
    for (fields, status) in [
      ([.cacheControl: "max-age=60"], "test; hit; ttl=50; detail=seed"),
      ([:], "test; hit; ttl=-10; detail=\"disconnected, seed\""),
    ] as [(HTTPFields, String)] {
      let seed = try #require(
        ListedSeeds.seed("https://example.com/", fields: fields, text: "seed", at: time))
      let test = TestCache {
        $0.seeds = [ListedSeeds([seed])]
        $0.cacheStatusName = "test"
      }
      test.origin.fails(.unreachable)
      let answer = try await test.respond("/")
      #expect(answer.head.headerFields[.cacheStatus] == status)
    }
  }

  @Test("online, a seed without validators is fetched whole, and the new response answers from then on")
  func replaced() async throws {
    let test = try test([:])
    test.origin.always(200, [.cacheControl: "max-age=60"], "new")
    #expect(try await test.get("/").text == "new")
    #expect(test.origin.requests.first?.headerFields[.ifNoneMatch] == nil)
    test.origin.fails(.unreachable)
    test.clock.advance(by: 100)
    let answer = try await test.respond("/")
    #expect(try await answer.body.collect().array == Array("new".utf8))
    #expect(!answer.isFromSeed)
  }

  @Test("online, a stale seed is validated, and is then fresh without its source")
  func validated() async throws {
    let test = try test([.eTag: "\"a\"", .cacheControl: "max-age=60"])
    test.origin.always(304, [.eTag: "\"a\"", .cacheControl: "max-age=60"], "")
    let first = try await test.get("/")
    #expect(first.text == "seed")
    guard case .validated = first.outcome else {
      Issue.record("it was \(first.outcome)")
      return
    }
    #expect(test.origin.requests.first?.headerFields[.ifNoneMatch] == "\"a\"")
    let second = try await test.get("/")
    #expect(second.text == "seed")
    #expect(second.outcome == .hit(age: .zero, lifetime: .seconds(60), allowance: nil))
    #expect(test.origin.requests.count == 1)
    #expect(test.cache.usage.memoryEntries == 1)
  }

  @Test("a fresh seed answers without the origin")
  func fresh() async throws {
    let test = try test([.cacheControl: "max-age=7200"])
    let answer = try await test.get("/")
    #expect(answer.outcome == .hit(age: .seconds(3600), lifetime: .seconds(7200), allowance: nil))
    #expect(test.origin.requests.isEmpty)
    #expect(
      try test.cache.explain(test.request("/")).decision.map { "\($0)" }?.contains("fresh") == true)
  }

  @Test("a POST invalidates a seed: it is validated before it answers again (RFC 9111 §4.4)")
  func post() async throws {
    let test = try test([.cacheControl: "max-age=7200", .eTag: "\"a\""])
    test.origin.always(200, [:], "done")
    try await test.get("/", method: .post)
    test.origin.fails(.unreachable)
    await #expect(throws: UpstreamError.self) { try await test.get("/") }
    test.origin.always(304, [.eTag: "\"a\""], "")
    #expect(try await test.get("/").text == "seed")
    #expect(test.origin.requests.last?.headerFields[.ifNoneMatch] == "\"a\"")
  }

  @Test("a removed seed does not come back")
  func removed() async throws {
    let test = try test([.cacheControl: "max-age=7200"])
    #expect(try await test.cache.remove(test.request("/")) == 1)
    test.origin.fails(.unreachable)
    await #expect(throws: UpstreamError.self) { try await test.get("/") }
  }

  @Test("a range of a seed is answered from the seed")
  func range() async throws {
    let test = try test([.cacheControl: "max-age=7200"], "0123456789")
    let answer = try await test.get("/", [.range: "bytes=2-4"])
    #expect(answer.status == 206)
    #expect(answer.text == "234")
  }

  @Test("a seed whose body is damaged counts as not stored")
  func damaged() async throws {
    let time = Timestamp(seconds: 1_699_999_000)
    let seed = try #require(
      ListedSeeds.seed(
        "https://example.com/", fields: [.cacheControl: "max-age=7200"], text: "bad", at: time,
        isDamaged: true))
    let test = TestCache { $0.seeds = [ListedSeeds([seed])] }
    test.origin.always(200, [:], "good")
    #expect(try await test.get("/").text == "good")
  }

  @Test("a removal is known to the next process over the same directory")
  func directory() async throws {
    let folder = try ScratchFolder()
    let test = TestCache()
    let time = Timestamp(seconds: 1_699_999_000)
    let seed = try #require(
      ListedSeeds.seed(
        "https://example.com/", fields: [.cacheControl: "max-age=7200"], text: "seed", at: time))
    let configuration = HTTPCache.Configuration(
      directory: folder.path("cache"), seeds: [ListedSeeds([seed])], clock: test.clock)
    test.origin.fails(.unreachable)
    let first = try HTTPCache.open(configuration)
    #expect(try await first.respond(to: test.request("/"), via: test.origin).isFromSeed)
    try await first.remove(.target("https://example.com/"))
    await first.close()
    let second = try HTTPCache.open(configuration)
    await #expect(throws: UpstreamError.self) {
      try await second.respond(to: test.request("/"), via: test.origin)
    }
    await second.close()
  }
}
