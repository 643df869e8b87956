import Foundation
import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCacheTesting
import HTTPCaching
import Testing

@Suite("A cache with seeds", .timeLimit(.minutes(10)))
struct SeedFlowTests {
  private func kitchen(_ fields: HTTPFields, _ text: String = "seed", age: Int64 = 3600) throws -> Kitchen {
    let time = Timestamp(seconds: 1_700_000_000).adding(.seconds(-age))
    let seed = try #require(ListedSeeds.seed("https://example.com/", fields: fields, text: text, at: time))
    return Kitchen { $0.seeds = [ListedSeeds([seed])] }
  }

  @Test("offline, a seed without times answers stale")
  func offline() async throws {
    let kitchen = try kitchen([:])
    kitchen.origin.fails(.unreachable)
    let answer = try await kitchen.respond("/")
    #expect(try await answer.body.collect().array == Array("seed".utf8))
    #expect(
      answer.outcome == .hit(age: .seconds(3600), lifetime: .zero, allowance: .disconnected))
    #expect(answer.isFromSeed)
    #expect(answer.storedAt == Timestamp(seconds: 1_699_996_400))
    #expect(kitchen.origin.requests.count == 1)
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
      let kitchen = Kitchen {
        $0.seeds = [ListedSeeds([seed])]
        $0.cacheStatusName = "test"
      }
      kitchen.origin.fails(.unreachable)
      let answer = try await kitchen.respond("/")
      #expect(answer.head.headerFields[.cacheStatus] == status)
    }
  }

  @Test("online, a seed without validators is fetched whole, and the new response answers from then on")
  func replaced() async throws {
    let kitchen = try kitchen([:])
    kitchen.origin.always(200, [.cacheControl: "max-age=60"], "new")
    #expect(try await kitchen.get("/").text == "new")
    #expect(kitchen.origin.requests.first?.headerFields[.ifNoneMatch] == nil)
    kitchen.origin.fails(.unreachable)
    kitchen.clock.advance(by: 100)
    let answer = try await kitchen.respond("/")
    #expect(try await answer.body.collect().array == Array("new".utf8))
    #expect(!answer.isFromSeed)
  }

  @Test("online, a stale seed is validated, and is then fresh without its source")
  func validated() async throws {
    let kitchen = try kitchen([.eTag: "\"a\"", .cacheControl: "max-age=60"])
    kitchen.origin.always(304, [.eTag: "\"a\"", .cacheControl: "max-age=60"], "")
    let first = try await kitchen.get("/")
    #expect(first.text == "seed")
    guard case .validated = first.outcome else {
      Issue.record("it was \(first.outcome)")
      return
    }
    #expect(kitchen.origin.requests.first?.headerFields[.ifNoneMatch] == "\"a\"")
    let second = try await kitchen.get("/")
    #expect(second.text == "seed")
    #expect(second.outcome == .hit(age: .zero, lifetime: .seconds(60), allowance: nil))
    #expect(kitchen.origin.requests.count == 1)
    #expect(kitchen.cache.usage.memoryEntries == 1)
  }

  @Test("a fresh seed answers without the origin")
  func fresh() async throws {
    let kitchen = try kitchen([.cacheControl: "max-age=7200"])
    let answer = try await kitchen.get("/")
    #expect(answer.outcome == .hit(age: .seconds(3600), lifetime: .seconds(7200), allowance: nil))
    #expect(kitchen.origin.requests.isEmpty)
    #expect(
      try kitchen.cache.explain(kitchen.request("/")).decision.map { "\($0)" }?.contains("fresh") == true)
  }

  @Test("a POST invalidates a seed: it is validated before it answers again (RFC 9111 §4.4)")
  func post() async throws {
    let kitchen = try kitchen([.cacheControl: "max-age=7200", .eTag: "\"a\""])
    kitchen.origin.always(200, [:], "done")
    try await kitchen.get("/", method: .post)
    kitchen.origin.fails(.unreachable)
    await #expect(throws: UpstreamError.self) { try await kitchen.get("/") }
    kitchen.origin.always(304, [.eTag: "\"a\""], "")
    #expect(try await kitchen.get("/").text == "seed")
    #expect(kitchen.origin.requests.last?.headerFields[.ifNoneMatch] == "\"a\"")
  }

  @Test("a removed seed does not come back")
  func removed() async throws {
    let kitchen = try kitchen([.cacheControl: "max-age=7200"])
    #expect(try await kitchen.cache.remove(kitchen.request("/")) == 1)
    kitchen.origin.fails(.unreachable)
    await #expect(throws: UpstreamError.self) { try await kitchen.get("/") }
  }

  @Test("a range of a seed is answered from the seed")
  func range() async throws {
    let kitchen = try kitchen([.cacheControl: "max-age=7200"], "0123456789")
    let answer = try await kitchen.get("/", [.range: "bytes=2-4"])
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
    let kitchen = Kitchen { $0.seeds = [ListedSeeds([seed])] }
    kitchen.origin.always(200, [:], "good")
    #expect(try await kitchen.get("/").text == "good")
  }

  @Test("a removal is known to the next process over the same directory")
  func directory() async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("seeds-\(UUID())")
    defer { try? FileManager.default.removeItem(at: folder) }
    let kitchen = Kitchen()
    let time = Timestamp(seconds: 1_699_999_000)
    let seed = try #require(
      ListedSeeds.seed(
        "https://example.com/", fields: [.cacheControl: "max-age=7200"], text: "seed", at: time))
    let configuration = HTTPCache.Configuration(
      directory: folder.path, seeds: [ListedSeeds([seed])], clock: kitchen.clock)
    kitchen.origin.fails(.unreachable)
    let first = try HTTPCache.open(configuration)
    #expect(try await first.respond(to: kitchen.request("/"), via: kitchen.origin).isFromSeed)
    try await first.remove(.target("https://example.com/"))
    await first.close()
    let second = try HTTPCache.open(configuration)
    await #expect(throws: UpstreamError.self) {
      try await second.respond(to: kitchen.request("/"), via: kitchen.origin)
    }
    await second.close()
  }
}
