import HTTPCacheTesting
import HTTPCaching
import Testing

@testable import HTTPCacheSemantics

/// The table of policies: their effects on the store and on the origin.
@Suite("Policies", .timeLimit(.minutes(10)))
struct PolicyTests {
  private let test = TestCache()

  private func prepared(_ cacheControl: String = "max-age=60") async throws -> TestCache<TestOrigin> {
    try await test.store([.cacheControl: cacheControl, .eTag: "\"1\""], "one")
    test.origin.always(200, [.cacheControl: cacheControl, .eTag: "\"2\""], "two")
    return test
  }

  @Test("standard: a fresh response is reused without the origin")
  func standard() async throws {
    let test = try await prepared()
    let answer = try await test.get("/")
    #expect(answer.text == "one")
    #expect(answer.outcome == .hit(age: .seconds(0), lifetime: .seconds(60), allowance: nil))
    #expect(test.origin.requests.count == 1)
  }

  @Test("reload: the store is ignored, then updated")
  func reload() async throws {
    let test = try await prepared()
    #expect(try await test.get("/", policy: .reload).text == "two")
    #expect(try await test.get("/").text == "two")
    #expect(test.origin.requests.count == 2)
    #expect(test.origin.requests[1].headerFields[.ifNoneMatch] == nil)
    #expect(test.origin.requests[1].headerFields[.cacheControl] == nil)
  }

  @Test("reloadEverywhere: as reload, and the caches on the way are told")
  func reloadEverywhere() async throws {
    let test = try await prepared()
    #expect(try await test.get("/", policy: .reloadEverywhere).text == "two")
    #expect(test.origin.requests[1].headerFields[.cacheControl] == "no-cache")
    #expect(test.origin.requests[1].headerFields[.pragmaTest] == "no-cache")
  }

  @Test("revalidate: the store is used only after the origin confirmed it")
  func revalidate() async throws {
    let test = try await prepared()
    test.origin.always(304, [.eTag: "\"1\""], "")
    let answer = try await test.get("/", policy: .revalidate)
    #expect(answer.text == "one")
    #expect(answer.status == 200)
    #expect(test.origin.requests[1].headerFields[.ifNoneMatch] == "\"1\"")
    guard case .validated(.policy(.revalidate), _, _) = answer.outcome else {
      return #expect(Bool(false), "\(answer.outcome)")
    }
  }

  @Test("cacheElseNetwork: whatever its age; the origin on a miss")
  func cacheElseNetwork() async throws {
    let test = try await prepared()
    test.clock.advance(by: 1_000_000)
    #expect(try await test.get("/", policy: .cacheElseNetwork).text == "one")
    #expect(try await test.get("/other", policy: .cacheElseNetwork).text == "two")
  }

  @Test("cacheOnly: whatever its age; a miss is 504 and no origin is asked")
  func cacheOnly() async throws {
    let test = try await prepared()
    test.clock.advance(by: 1_000_000)
    #expect(try await test.get("/", policy: .cacheOnly).text == "one")
    let miss = try await test.get("/other", policy: .cacheOnly)
    #expect(miss.status == 504)
    #expect(miss.outcome == .unsatisfiable(.miss(.absent)))
    #expect(test.origin.requests.count == 1)
  }

  @Test("bypass: neither read nor written")
  func bypass() async throws {
    let test = try await prepared()
    #expect(try await test.get("/", policy: .bypass).text == "two")
    #expect(try await test.get("/").text == "one")
  }

  @Test("networkElseCache: the origin first, the store when it cannot be reached")
  func networkElseCache() async throws {
    let test = try await prepared()
    test.origin.fails(.unreachable)
    let answer = try await test.get("/", policy: .networkElseCache())
    #expect(answer.text == "one")
    #expect(test.origin.requests.count == 2, "asked though fresh")
    await #expect(throws: UpstreamError.self) {
      try await test.get("/other", policy: .networkElseCache())
    }
  }

  @Test("networkElseCache: nothing older than maxStale, and 5xx only if asked for")
  func networkElseCacheLimits() async throws {
    let test = try await prepared()
    test.clock.advance(by: 60 + 31)
    test.origin.fails(.timeout)
    await #expect(throws: UpstreamError.self) {
      try await test.get("/", policy: .networkElseCache(maxStale: .seconds(30)))
    }
    #expect(try await test.get("/", policy: .networkElseCache(maxStale: .seconds(31))).text == "one")
    test.origin.always(503, [:], "busy")
    #expect(try await test.get("/", policy: .networkElseCache()).status == 503)
    let answer = try await test.get("/", policy: .networkElseCache(onStatus: [500, 503]))
    #expect(answer.text == "one")
  }

  @Test("cacheElseNetwork, cacheOnly: the outcome tells age and staleness, and what allowed it")
  func staleness() async throws {
    let test = try await prepared()
    for policy in [CachePolicy.cacheElseNetwork, .cacheOnly] {
      #expect(
        try await test.get("/", policy: policy).outcome
          == .hit(age: .seconds(0), lifetime: .seconds(60), allowance: nil))
    }
    test.clock.advance(by: 90)
    for policy in [CachePolicy.cacheElseNetwork, .cacheOnly] {
      #expect(
        try await test.get("/", policy: policy).outcome
          == .hit(age: .seconds(90), lifetime: .seconds(60), allowance: .policy(policy)))
    }
    test.origin.fails(.unreachable)
    let policy = CachePolicy.networkElseCache()
    #expect(
      try await test.get("/", policy: policy).outcome
        == .hit(age: .seconds(90), lifetime: .seconds(60), allowance: .policy(policy)))
  }

  @Test(
    "§4.2.4, §5.2.2.4 no policy uses what must be validated: the origin is asked, or it is a miss",
    arguments: ["no-cache", "max-age=60, must-revalidate"])
  func mandatory(cacheControl: String) async throws {
    let test = try await prepared(cacheControl)
    test.clock.advance(by: 90)
    #expect(try await test.get("/", policy: .cacheOnly).status == 504)
    test.origin.fails(.unreachable)
    await #expect(throws: UpstreamError.self) { try await test.get("/", policy: .networkElseCache()) }
    test.origin.always(200, [.cacheControl: cacheControl], "two")
    #expect(try await test.get("/", policy: .cacheElseNetwork).text == "two")
  }

  @Test("§4.4 no policy uses what an unsafe request has invalidated without the origin")
  func invalidated() async throws {
    let test = try await prepared()
    try await test.get("/", method: .put)
    #expect(try await test.get("/", policy: .cacheOnly).status == 504)
    #expect(try await test.get("/", policy: .cacheElseNetwork).text == "two")
  }

  @Test("cacheOnly, cacheElseNetwork: the request's directives with seconds do not count, its no-cache does")
  func requestDirectives() async throws {
    let test = try await prepared()
    test.clock.advance(by: 90)
    for directive in RequestDirective.allCases where directive.argument == .seconds {
      let fields: HTTPFields = [.cacheControl: "\(directive.name)=1"]
      #expect(try await test.get("/", fields, policy: .cacheOnly).text == "one")
      #expect(try await test.get("/", fields, policy: .cacheElseNetwork).text == "one")
    }
    #expect(try await test.get("/", [.cacheControl: "no-cache"], policy: .cacheOnly).status == 504)
  }

  @Test("bypass: no validator of the store is sent, nothing is freshened, no failure answered")
  func bypassAll() async throws {
    let test = try await prepared()
    test.clock.advance(by: 90)
    try await test.get("/", method: .head, policy: .bypass)
    #expect(test.origin.requests.last?.headerFields[.ifNoneMatch] == nil)
    #expect(
      try await test.get("/", policy: .cacheOnly).outcome
        == .hit(age: .seconds(90), lifetime: .seconds(60), allowance: .policy(.cacheOnly)))
    test.origin.fails(.unreachable)
    await #expect(throws: UpstreamError.self) { try await test.get("/", policy: .bypass) }
  }

  // holds 9111-5.2.1.5-1
  @Test("§5.2.1.5 no-store in the request: what is stored answers, and nothing of the answer is stored")
  func requestNoStore() async throws {
    let test = try await prepared()
    let noStore: HTTPFields = [.cacheControl: "no-store"]
    #expect(try await test.get("/", noStore).text == "one")
    test.clock.advance(by: 90)
    test.origin.always(304, [.cacheControl: "max-age=999", .eTag: "\"1\"", .xN: "new"], "")
    let answer = try await test.get("/", noStore)
    #expect(answer.text == "one" && answer.head.headerFields[.xN] == "new")
    let kept = try await test.get("/", policy: .cacheOnly)
    #expect(kept.head.headerFields[.xN] == nil)
    #expect(kept.outcome == .hit(age: .seconds(90), lifetime: .seconds(60), allowance: .policy(.cacheOnly)))
    test.origin.always(200, [.cacheControl: "max-age=999", .eTag: "\"1\"", .xN: "head"], "")
    try await test.get("/", noStore, method: .head, policy: .revalidate)
    #expect(try await test.get("/", policy: .cacheOnly).head.headerFields[.xN] == nil)
    test.origin.always(200, [.cacheControl: "max-age=999"], "two")
    #expect(try await test.get("/other", noStore).text == "two")
    #expect(try await test.get("/other", policy: .cacheOnly).status == 504)
  }

  @Test("§4.1 the outcome of a confirmed variant of other fields says so, not that it was stale")
  func confirmedVariant() async throws {
    let fields: HTTPFields = [.cacheControl: "max-age=60", .vary: "Accept", .eTag: "\"1\""]
    test.origin.answers { request, _ in
      (request.headerFields[.ifNoneMatch] == nil ? 200 : 304, fields, "one")
    }
    try await test.get("/", [.accept: "a"])
    let answer = try await test.get("/", [.accept: "b"])
    #expect(answer.text == "one")
    #expect(
      answer.outcome == .validated(.variantMismatch([.accept]), age: .seconds(0), lifetime: .seconds(60)))
    let status = CacheStatus(outcome: answer.outcome, name: "c")
    #expect(status.fwd == .varyMiss && status.fwdStatus == 304 && status.ttl == 60)
  }

  @Test("reload: an answer that must not be stored ends the use of the old one")
  func reloadUnstorable() async throws {
    let test = try await prepared()
    test.origin.always(200, [.cacheControl: "no-store"], "two")
    #expect(try await test.get("/", policy: .reload).text == "two")
    #expect(try await test.get("/").text == "two")
  }
}
