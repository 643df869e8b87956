import HTTPCacheSemantics
import HTTPTypes
import Testing

@Suite(.timeLimit(.minutes(10))) struct Section5_2_DirectiveTests {
  private func parsed(_ value: String) throws -> ResponseDirectives {
    ResponseDirectives(try fields(["Cache-Control": value]), rules: privateRules)
  }

  // holds 9111-5.2.2-1, 9111-5.2.3-1
  @Test("§5.2.2 Every directive of a response is recognised in any letter case")
  func response() throws {
    let directives = try parsed(
      "MAX-AGE=1, S-MaxAge=2, NO-CACHE, Private, No-Store, no-TRANSFORM, Must-Revalidate, "
        + "proxy-REVALIDATE, PUBLIC, Must-Understand, IMMUTABLE, Stale-While-Revalidate=3, "
        + "STALE-IF-ERROR=4, unknown, unknown=5")
    var expected = ResponseDirectives()
    expected.maxAge = 1
    expected.sMaxAge = 2
    expected.noCache = .whole
    expected.private = .whole
    expected.windows = ReuseWindows([.staleWhileRevalidate: 3, .staleIfError: 4])
    expected.flags = [
      .noCache, .noStore, .noTransform, .mustRevalidate, .proxyRevalidate, .sMaxAge, .immutable, .public,
      .private, .mustUnderstand,
    ]
    #expect(directives == expected)
  }

  // holds 9111-5.2-2
  @Test("§5.2.2.4 Qualified forms list names; anything doubtful is taken as unqualified")
  func qualified() throws {
    #expect(try parsed("no-cache=\"Set-Cookie, X\"").noCache == .fields(["set-cookie", "x"]))
    #expect(try parsed("no-cache=Set-Cookie").noCache == .fields(["set-cookie"]))
    #expect(try parsed("private=\"a\", private=\"b\"").private == .fields(["a", "b"]))
    for value in [
      "no-cache=\"a\", no-cache", "no-cache, no-cache=\"a\"", "no-cache=\"\"",
      "no-cache=", "no-cache=\"a", "no-cache=\"a b\"", "no-cache = \"a\"",
    ] {
      #expect(try parsed(value).noCache == .whole)
    }
  }

  // holds 9111-5.2.3-1
  @Test("§5.2.1 Every directive of a request is recognised, the more restrictive one counts")
  func request() throws {
    func parsed(_ value: String) throws -> RequestDirectives {
      RequestDirectives(try fields(["Cache-Control": value]))
    }
    var expected = RequestDirectives()
    expected.maxAge = 1
    expected.maxStale = 2
    expected.minFresh = 3
    expected.staleIfError = 4
    expected.noCache = true
    expected.noStore = true
    expected.noTransform = true
    expected.onlyIfCached = true
    #expect(
      try parsed(
        "Max-Age=1, max-stale=2, min-fresh=3, stale-if-error=4, no-cache, no-store, "
          + "no-transform, only-if-cached, foo") == expected)
    #expect(try parsed("max-age=9, max-age=4, min-fresh=1, min-fresh=5").maxAge == 4)
    #expect(try parsed("min-fresh=1, min-fresh=5").minFresh == 5)
    #expect(try parsed("max-age=x").maxAge == 0)
    #expect(try parsed("max-stale=x").maxStale == nil)
    #expect(try #require(parsed("max-stale").maxStale) > 1_000_000_000)
    #expect(RequestDirectives([:]) == RequestDirectives())
  }

  // holds 9111-5.2-2
  @Test("§5.2 Arguments are taken as tokens and as quoted strings")
  func bothForms() throws {
    let request = RequestDirectives(
      try fields([
        "Cache-Control": "max-age=\"1\", max-stale=\"2\", min-fresh=\"3\", stale-if-error=\"4\""
      ]))
    #expect(request.maxAge == 1 && request.maxStale == 2)
    #expect(request.minFresh == 3 && request.staleIfError == 4)
    let response = try parsed("s-maxage=\"5\", max-age=6, no-cache=a, private=\"b\"")
    #expect(response.sMaxAge == 5 && response.maxAge == 6)
    #expect(response.noCache == .fields(["a"]) && response.private == .fields(["b"]))
  }

  // holds 8246-2-3
  @Test("RFC 8246 §2 Arguments of immutable mean nothing", arguments: ["=1", "=\"a\"", "=0"])
  func immutableArgument(argument: String) throws {
    #expect(try parsed("immutable\(argument)").flags == [.immutable])
  }
}

@Suite(.timeLimit(.minutes(10))) struct RFC9213_TargetedFieldTests {
  private let rules = CacheRules(
    mode: .shared, targetedFields: ["Example-CDN-Cache-Control", "CDN-Cache-Control"])

  private func lifetime(_ pairs: KeyValuePairs<String, String>) throws -> Int64 {
    Freshness.facts(
      response: try response(200, pairs), requestTime: today, responseTime: today, rules: rules
    ).freshnessLifetime
  }

  // holds 9213-2.2-1, 9213-2.2-2
  @Test("RFC 9213 §2.2 The first valid field of the list decides alone")
  func decides() throws {
    let expired = "Fri, 06 Nov 2020 11:00:00 GMT"
    #expect(
      try lifetime([
        "CDN-Cache-Control": "max-age=3600", "Cache-Control": "max-age=1", "Expires": expired,
      ]) == 3600)
    #expect(
      try lifetime([
        "CDN-Cache-Control": "max-age=0", "Expires": "Fri, 06 Nov 2020 13:00:00 GMT",
      ]) == 0)
    #expect(
      try lifetime([
        "CDN-Cache-Control": "max-age=1", "Example-CDN-Cache-Control": "max-age=2",
      ]) == 2)
    #expect(try lifetime(["CDN-Cache-Control": "foobar, max-age=99999999999"]) == 99_999_999_999)
    #expect(try lifetime(["CDN-Cache-Control": "max-age=60;p=1"]) == 60)
  }

  // holds 9213-2.2-2, 9213-2.2-5
  @Test("RFC 9213 §2.2 It decides about storing too")
  func storing() throws {
    func decision(_ pairs: KeyValuePairs<String, String>) throws -> StorageDecision {
      try HTTPCacheSemanticsTests.storing(200, pairs, rules: rules)
    }
    let fresh = "max-age=10000"
    #expect(try decision(["CDN-Cache-Control": fresh, "Cache-Control": "no-store"]) == .store)
    #expect(
      try decision(["CDN-Cache-Control": "no-store", "Cache-Control": fresh])
        == .doNotStore(.responseNoStore))
    #expect(
      try decision(["CDN-Cache-Control": "private", "Cache-Control": fresh])
        == .doNotStore(.privateInShared))
    #expect(
      try decision(["CDN-Cache-Control": "no-cache", "Cache-Control": fresh])
        == .doNotStore(.neverReusable))
    #expect(
      try decision([
        "CDN-Cache-Control": "none", "Cache-Control": "no-store", "ETag": "\"1\"",
      ]) == .store)
  }

  // holds 9213-2.1-3, 9213-2.1-4
  @Test(
    "RFC 9213 §2.1 A field that is empty, malformed or holds nothing usable is as if not there",
    arguments: [
      "", "max-age=10000, &&&&&", "max-age=\"10000\"", "MaX-aGe=3600", "max-age =100",
      "max-age= 100", "max-age=1.5", "no-store=?0", "max-age=(1 2)",
    ])
  func ignored(value: String) throws {
    #expect(try lifetime(["CDN-Cache-Control": value, "Cache-Control": "max-age=7"]) == 7)
  }

  // holds 9213-2.2-3, 9213-2.4-1
  @Test("RFC 9213 §2.2 A field that is not on the list changes nothing")
  func notTargeted() throws {
    let facts = Freshness.facts(
      response: try response(
        200, ["CDN-Cache-Control": "max-age=3600", "Cache-Control": "max-age=1"]),
      requestTime: today, responseTime: today, rules: sharedRules)
    #expect(facts.freshnessLifetime == 1)
    #expect(facts.lifetimeSource == .maxAge)
  }

  // holds 9213-2.2-5, 9213-2.2-6
  @Test("RFC 9213 §2.2 Directives mean what they mean in Cache-Control, all of them")
  func directives() throws {
    let targeted = ResponseDirectives(
      try fields([
        "CDN-Cache-Control":
          "max-age=1, s-maxage=2, no-cache, private, no-store, no-transform, must-revalidate, "
          + "proxy-revalidate, public, must-understand, immutable, stale-while-revalidate=3, "
          + "stale-if-error=4"
      ]), rules: rules)
    var expected = ResponseDirectives()
    expected.source = .targeted("cdn-cache-control")
    expected.maxAge = 1
    expected.sMaxAge = 2
    expected.noCache = .whole
    expected.private = .whole
    expected.windows = ReuseWindows([.staleWhileRevalidate: 3, .staleIfError: 4])
    expected.flags = [
      .noCache, .noStore, .noTransform, .mustRevalidate, .proxyRevalidate, .sMaxAge, .immutable, .public,
      .private, .mustUnderstand,
    ]
    #expect(targeted == expected)
    let strict = try stored(
      200, ["CDN-Cache-Control": "max-age=1, must-revalidate", "ETag": "\"1\""], rules: rules)
    #expect(try fallback(strict, after: 9, rules: rules) == .fail(.mustRevalidate))
    let validated = try stored(
      200, ["CDN-Cache-Control": "max-age=9, no-cache", "ETag": "\"1\""], rules: rules)
    #expect(try decide(validated, after: 1, rules: rules) == .validate(.responseNoCache))
  }

  @Test("RFC 9213 §2.3 Age counts against a targeted lifetime")
  func age() throws {
    let kept = try stored(
      200, ["CDN-Cache-Control": "max-age=3600", "Age": "7200"], rules: rules)
    #expect(kept.facts.lifetimeSource == .targeted)
    #expect(
      try decide(kept, after: 0, rules: rules)
        == .validate(.stale(age: .seconds(7200), lifetime: .seconds(3600))))
  }
}
