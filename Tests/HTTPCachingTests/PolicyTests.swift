import HTTPCacheTesting
import HTTPCaching
import Testing

/// The table of policies: what becomes of the store and what of the origin.
@Suite("Policies", .timeLimit(.minutes(10)))
struct PolicyTests {
  private let kitchen = Kitchen()

  private func prepared(_ cacheControl: String = "max-age=60") async throws -> Kitchen {
    kitchen.origin.always(200, [.cacheControl: cacheControl, .eTag: "\"1\""], "one")
    _ = try await kitchen.get("/")
    kitchen.origin.always(200, [.cacheControl: cacheControl, .eTag: "\"2\""], "two")
    return kitchen
  }

  @Test("standard: a fresh response is reused without the origin")
  func standard() async throws {
    let kitchen = try await prepared()
    let answer = try await kitchen.get("/")
    #expect(answer.text == "one")
    #expect(answer.outcome == .hit(age: 0, lifetime: 60, allowance: nil))
    #expect(kitchen.origin.requests.count == 1)
  }

  @Test("reload: the store is ignored, then updated")
  func reload() async throws {
    let kitchen = try await prepared()
    #expect(try await kitchen.get("/", policy: .reload).text == "two")
    #expect(try await kitchen.get("/").text == "two")
    #expect(kitchen.origin.requests.count == 2)
    #expect(kitchen.origin.requests[1].headerFields[.ifNoneMatch] == nil)
    #expect(kitchen.origin.requests[1].headerFields[.cacheControl] == nil)
  }

  @Test("reloadEverywhere: as reload, and the caches on the way are told")
  func reloadEverywhere() async throws {
    let kitchen = try await prepared()
    #expect(try await kitchen.get("/", policy: .reloadEverywhere).text == "two")
    #expect(kitchen.origin.requests[1].headerFields[.cacheControl] == "no-cache")
    #expect(kitchen.origin.requests[1].headerFields[.pragmaTest] == "no-cache")
  }

  @Test("revalidate: the store is used only after the origin confirmed it")
  func revalidate() async throws {
    let kitchen = try await prepared()
    kitchen.origin.always(304, [.eTag: "\"1\""], "")
    let answer = try await kitchen.get("/", policy: .revalidate)
    #expect(answer.text == "one")
    #expect(answer.status == 200)
    #expect(kitchen.origin.requests[1].headerFields[.ifNoneMatch] == "\"1\"")
    guard case .validated(.policy(.revalidate), _, _) = answer.outcome else {
      return #expect(Bool(false), "\(answer.outcome)")
    }
  }

  @Test("cacheElseNetwork: whatever its age; the origin on a miss")
  func cacheElseNetwork() async throws {
    let kitchen = try await prepared()
    kitchen.clock.advance(by: 1_000_000)
    #expect(try await kitchen.get("/", policy: .cacheElseNetwork).text == "one")
    #expect(try await kitchen.get("/other", policy: .cacheElseNetwork).text == "two")
  }

  @Test("cacheOnly: whatever its age; a miss is 504 and asks nobody")
  func cacheOnly() async throws {
    let kitchen = try await prepared()
    kitchen.clock.advance(by: 1_000_000)
    #expect(try await kitchen.get("/", policy: .cacheOnly).text == "one")
    let miss = try await kitchen.get("/other", policy: .cacheOnly)
    #expect(miss.status == 504)
    #expect(miss.outcome == .unsatisfiable(.miss(.absent)))
    #expect(kitchen.origin.requests.count == 1)
  }

  @Test("bypass: neither read nor written")
  func bypass() async throws {
    let kitchen = try await prepared()
    #expect(try await kitchen.get("/", policy: .bypass).text == "two")
    #expect(try await kitchen.get("/").text == "one")
  }

  @Test("networkElseCache: the origin first, the store when it cannot be reached")
  func networkElseCache() async throws {
    let kitchen = try await prepared()
    kitchen.origin.fails(.unreachable)
    let answer = try await kitchen.get("/", policy: .networkElseCache())
    #expect(answer.text == "one")
    #expect(kitchen.origin.requests.count == 2, "asked though fresh")
    await #expect(throws: UpstreamError.self) {
      try await kitchen.get("/other", policy: .networkElseCache())
    }
  }

  @Test("networkElseCache: nothing older than maxStale, and 5xx only if asked for")
  func networkElseCacheLimits() async throws {
    let kitchen = try await prepared()
    kitchen.clock.advance(by: 60 + 31)
    kitchen.origin.fails(.timeout)
    await #expect(throws: UpstreamError.self) {
      try await kitchen.get("/", policy: .networkElseCache(maxStale: 30))
    }
    #expect(try await kitchen.get("/", policy: .networkElseCache(maxStale: 31)).text == "one")
    kitchen.origin.always(503, [:], "busy")
    #expect(try await kitchen.get("/", policy: .networkElseCache()).status == 503)
    let answer = try await kitchen.get("/", policy: .networkElseCache(onStatus: [500, 503]))
    #expect(answer.text == "one")
  }

  @Test("reload: an answer that must not be stored ends the use of the old one")
  func reloadUnstorable() async throws {
    let kitchen = try await prepared()
    kitchen.origin.always(200, [.cacheControl: "no-store"], "two")
    #expect(try await kitchen.get("/", policy: .reload).text == "two")
    #expect(try await kitchen.get("/").text == "two")
  }
}
