import HTTPCacheTesting
import HTTPCaching
import Testing

@Suite("Soft purges: what they select is stale from then on (RFC 9111 §4.2.4)", .timeLimit(.minutes(10)))
struct SoftPurgeTests {
  private static let windows = "max-age=600, stale-while-revalidate=60, stale-if-error=60"

  private func purged(_ kind: StoreKind, _ cacheControl: String) async throws -> TestCache<TestOrigin> {
    let test = try TestCache(kind, origin: TestOrigin())
    try await test.store([.cacheControl: cacheControl, .eTag: "\"1\""], "old")
    try await test.get("/other")
    let count = try await test.cache.expire(.target("https://example.com/"))
    #expect(count == 1)
    return test
  }

  @Test("a 304 makes it fresh again, and no other response is concerned", arguments: StoreKind.allCases)
  func validated(_ kind: StoreKind) async throws {
    let test = try await purged(kind, "max-age=600")
    test.origin.always(304, [.cacheControl: "max-age=600", .eTag: "\"1\""], "")
    guard case .validated = try await test.get("/").outcome else {
      Issue.record("the origin was not asked with a condition")
      return
    }
    #expect(try await test.get("/").outcome.isHit)
    #expect(try await test.get("/other").outcome.isHit)
    #expect(test.origin.requests.count == 3)
  }

  @Test("RFC 5861 §3 stale-while-revalidate uses it", arguments: StoreKind.allCases)
  func whileRevalidating(_ kind: StoreKind) async throws {
    let test = try await purged(kind, Self.windows)
    test.origin.always(200, [.cacheControl: Self.windows, .eTag: "\"2\""], "new")
    let first = try await test.get("/")
    #expect(first.text == "old")
    #expect(first.outcome.isHit)
    await test.cache.finishBackgroundWork(within: .seconds(60))
    #expect(try await test.get("/").text == "new")
  }

  @Test("RFC 5861 §4 stale-if-error uses it", arguments: StoreKind.allCases)
  func afterError(_ kind: StoreKind) async throws {
    let test = try await purged(kind, "max-age=600, stale-if-error=60")
    test.origin.always(503, [:], "no")
    let answer = try await test.get("/")
    #expect(answer.status == 200)
    #expect(answer.text == "old")
  }

  @Test("what forbids stale use forbids it here, as does an invalidation", arguments: StoreKind.allCases)
  func forbidden(_ kind: StoreKind) async throws {
    let strict = try await purged(kind, "max-age=600, stale-if-error=60, must-revalidate")
    strict.origin.always(503, [:], "no")
    #expect(try await strict.get("/").status == 503)
    let invalidated = try await purged(kind, Self.windows)
    try await invalidated.cache.invalidate(.target("https://example.com/"))
    invalidated.origin.always(503, [:], "no")
    #expect(try await invalidated.get("/").status == 503)
  }

  @Test("the mark outlives the process", arguments: [StoreKind.disk, .memoryOverDisk])
  func reopened(_ kind: StoreKind) async throws {
    let test = try await purged(kind, "max-age=600")
    await test.cache.close()
    let again = try HTTPCache.open(test.cache.configuration)
    let answer = try await again.respond(to: test.request("/"), policy: .cacheOnly, via: test.origin)
    guard case .hit(_, _, .policy) = answer.outcome else {
      Issue.record("fresh: \(answer.outcome)")
      return
    }
    await again.close()
  }

  @Test("an explanation tells of it")
  func explained() async throws {
    let test = try await purged(.memory, "max-age=600")
    let explanation = try test.cache.explain(test.request("/"))
    #expect(explanation.description.contains("purged softly since"), "\(explanation)")
  }
}
