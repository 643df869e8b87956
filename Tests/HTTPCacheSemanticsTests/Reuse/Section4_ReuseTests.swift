import HTTPCacheSemantics
import HTTPTypes
import Testing

@Suite(.timeLimit(.minutes(10))) struct Section4_ReuseTests {
  let hour: KeyValuePairs<String, String> = ["Cache-Control": "max-age=3600", "ETag": "\"1\""]

  // holds 9111-4-5
  @Test("§4.2 A response is fresh as long as its lifetime is greater than its age")
  func fresh() throws {
    let kept = try stored(200, hour)
    #expect(try decide(kept, after: 3599) == .fresh(age: .seconds(3599), lifetime: .seconds(3600)))
    #expect(
      try decide(kept, after: 3600) == .validate(.stale(age: .seconds(3600), lifetime: .seconds(3600))))
    #expect(try decide(kept, after: 1, method: .head) == .fresh(age: .seconds(1), lifetime: .seconds(3600)))
  }

  // holds 9111-4-2, 9111-4.3.2-2
  @Test("§4 Only GET and HEAD without conditions for the origin are answered")
  func methods() throws {
    #expect(try Reuse.methodMiss(get()) == nil)
    #expect(try Reuse.methodMiss(get(method: .head)) == nil)
    #expect(try Reuse.methodMiss(get(method: .post)) == .method(.post))
    #expect(try Reuse.methodMiss(get(method: .query)) == nil)
    #expect(try Reuse.methodMiss(get(["If-Match": "*"])) == .precondition(.ifMatch))
    #expect(
      try Reuse.methodMiss(get(["If-Unmodified-Since": "x"]))
        == .precondition(.ifUnmodifiedSince))
    #expect(try Reuse.methodMiss(get(["If-None-Match": "*"])) == nil)
  }

  // holds 9111-4-2
  @Test("RFC 9110 §9.3.2 A stored response to HEAD does not answer GET")
  func head() throws {
    let kept = try stored(200, hour, to: get(method: .head))
    #expect(try decide(kept, after: 1) == .miss(.method(.get)))
    #expect(try decide(kept, after: 1, method: .head) == .fresh(age: .seconds(1), lifetime: .seconds(3600)))
  }

  // holds 9111-4-4, 9111-5.2.2.4-1
  @Test("§5.2.2.4 no-cache is validated on every use, whatever the policy")
  func noCache() throws {
    let kept = try stored(200, ["Cache-Control": "max-age=3600, no-cache", "ETag": "\"1\""])
    #expect(try decide(kept, after: 1) == .validate(.responseNoCache))
    #expect(try decide(kept, after: 1, policy: .cacheElseNetwork) == .validate(.responseNoCache))
    #expect(
      try decide(kept, after: 1, policy: .cacheOnly)
        == .unsatisfiable(.validation(.responseNoCache)))
    let qualified = try stored(200, ["Cache-Control": "max-age=3600, no-cache=\"set-cookie\""])
    #expect(try decide(qualified, after: 1) == .fresh(age: .seconds(1), lifetime: .seconds(3600)))
  }

  @Test("§4.4 What was invalidated is validated before any use")
  func invalidated() throws {
    var kept = try stored(200, hour)
    kept.isInvalidated = true
    #expect(try decide(kept, after: 1) == .validate(.invalidated))
    #expect(try decide(kept, after: 1, policy: .cacheElseNetwork) == .validate(.invalidated))
  }

  @Test("§4.2.4, RFC 5861 §3 What was purged softly is stale, whatever its lifetime")
  func expired() throws {
    var kept = try stored(200, ["Cache-Control": "max-age=3600, stale-while-revalidate=60"])
    kept.isExpired = true
    #expect(
      try decide(kept, after: 1)
        == .stale(.window(.staleWhileRevalidate), age: .seconds(1), lifetime: .seconds(1)))
    #expect(
      try decide(kept, after: 3_700) == .validate(.stale(age: .seconds(3_700), lifetime: .seconds(3_600))))
    var plain = try stored(200, hour)
    plain.isExpired = true
    #expect(try decide(plain, after: 1) == .validate(.stale(age: .seconds(1), lifetime: .seconds(1))))
    var strict = try stored(
      200, ["Cache-Control": "max-age=3600, must-revalidate, stale-while-revalidate=60"])
    strict.isExpired = true
    #expect(try decide(strict, after: 1) == .validate(.stale(age: .seconds(1), lifetime: .seconds(1))))
    kept.isInvalidated = true
    #expect(try decide(kept, after: 1) == .validate(.invalidated))
  }

  // holds 9111-5.2.1-1
  @Test("§5.2.1 Directives of the request are honoured")
  func requestDirectives() throws {
    let kept = try stored(200, hour)
    func decision(_ value: String, after seconds: Int64 = 10) throws -> ReuseDecision {
      try decide(kept, after: seconds, ["Cache-Control": value])
    }
    #expect(try decision("no-cache") == .validate(.requestNoCache))
    #expect(try decision("max-age=10") == .fresh(age: .seconds(10), lifetime: .seconds(3600)))
    #expect(try decision("max-age=9") == .validate(.requestMaxAge(.seconds(9), age: .seconds(10))))
    #expect(try decision("max-age=0", after: 0) == .validate(.requestMaxAge(.seconds(0), age: .seconds(0))))
    #expect(try decision("min-fresh=3590") == .fresh(age: .seconds(10), lifetime: .seconds(3600)))
    #expect(
      try decision("min-fresh=3591") == .validate(.requestMinFresh(.seconds(3591), remaining: .seconds(3590)))
    )
    #expect(
      try decision("max-stale", after: 9999)
        == .stale(.maxStale, age: .seconds(9999), lifetime: .seconds(3600)))
    #expect(
      try decision("max-stale=100", after: 3700)
        == .stale(.maxStale, age: .seconds(3700), lifetime: .seconds(3600)))
    #expect(
      try decision("max-stale=99", after: 3700)
        == .validate(.stale(age: .seconds(3700), lifetime: .seconds(3600))))
    #expect(
      try decision("max-stale, max-age=60", after: 3700)
        == .validate(.stale(age: .seconds(3700), lifetime: .seconds(3600))))
  }

  // holds 9111-5.4-1
  @Test("§5.4 Pragma counts in a request without Cache-Control")
  func pragma() throws {
    let kept = try stored(200, hour)
    #expect(try decide(kept, after: 1, ["Pragma": "no-cache"]) == .validate(.pragmaNoCache))
    #expect(
      try decide(kept, after: 1, ["Pragma": "no-cache", "Cache-Control": "foo"])
        == .fresh(age: .seconds(1), lifetime: .seconds(3600)))
    #expect(
      try decide(kept, after: 1, ["Pragma": "foo"]) == .fresh(age: .seconds(1), lifetime: .seconds(3600)))
    let answered = try stored(200, ["Cache-Control": "max-age=3600", "Pragma": "no-cache"])
    #expect(try decide(answered, after: 1) == .fresh(age: .seconds(1), lifetime: .seconds(3600)))
  }

  // holds 9111-5.2.1.7-1
  @Test("§5.2.1.7 only-if-cached never leads to a forwarded request")
  func onlyIfCached() throws {
    let kept = try stored(200, hour)
    let only: KeyValuePairs = ["Cache-Control": "only-if-cached"]
    #expect(try decide(kept, after: 1, only) == .fresh(age: .seconds(1), lifetime: .seconds(3600)))
    #expect(
      try decide(kept, after: 3600, only)
        == .unsatisfiable(.validation(.stale(age: .seconds(3600), lifetime: .seconds(3600)))))
    #expect(
      try Reuse.whenMissing(
        .absent, directives: RequestDirectives(fields(only)), policy: .standard)
        == .unsatisfiable(.miss(.absent)))
    #expect(
      Reuse.whenMissing(.absent, directives: RequestDirectives(), policy: .standard)
        == .miss(.absent))
  }

  @Test("Each policy does what its row says")
  func policies() throws {
    let kept = try stored(200, hour)
    #expect(try decide(kept, after: 1, policy: .bypass) == .miss(.policy(.bypass)))
    #expect(try decide(kept, after: 1, policy: .reload) == .miss(.policy(.reload)))
    #expect(
      try decide(kept, after: 1, policy: .reloadEverywhere) == .miss(.policy(.reloadEverywhere)))
    #expect(try decide(kept, after: 1, policy: .revalidate) == .validate(.policy(.revalidate)))
    let network = CachePolicy.networkElseCache()
    #expect(try decide(kept, after: 1, policy: network) == .validate(.policy(network)))
    for policy in [CachePolicy.cacheElseNetwork, .cacheOnly] {
      #expect(
        try decide(kept, after: 1, policy: policy) == .fresh(age: .seconds(1), lifetime: .seconds(3600)))
      #expect(
        try decide(kept, after: 9999, ["Cache-Control": "max-age=1"], policy: policy)
          == .stale(.policy(policy), age: .seconds(9999), lifetime: .seconds(3600)))
    }
    #expect(
      Reuse.whenMissing(.absent, directives: RequestDirectives(), policy: .cacheOnly)
        == .unsatisfiable(.miss(.absent)))
    #expect(
      Reuse.whenMissing(.absent, directives: RequestDirectives(), policy: .cacheElseNetwork)
        == .miss(.absent))
  }

  // holds 8246-2-1, 8246-2-2, 8246-2.1-1, 8246-3-2
  @Test("RFC 8246 §2 A fresh immutable response is not revalidated on reload, a stale one is")
  func immutable() throws {
    let kept = try stored(200, ["Cache-Control": "max-age=3600, immutable", "ETag": "\"1\""])
    #expect(
      try decide(kept, after: 1, policy: .revalidate) == .fresh(age: .seconds(1), lifetime: .seconds(3600)))
    #expect(
      try decide(kept, after: 1, ["Cache-Control": "max-age=0"])
        == .fresh(age: .seconds(1), lifetime: .seconds(3600)))
    #expect(
      try decide(kept, after: 1, ["Cache-Control": "no-cache"]) == .validate(.requestNoCache))
    #expect(try decide(kept, after: 1, policy: .reload) == .miss(.policy(.reload)))
    #expect(
      try decide(kept, after: 3600, policy: .revalidate)
        == .validate(.stale(age: .seconds(3600), lifetime: .seconds(3600))))
  }

  @Test("RFC 8246 §3 Over http a private cache does not believe immutable, a shared one does")
  func immutableOverHTTP() throws {
    let fields: KeyValuePairs = ["Cache-Control": "max-age=3600, immutable", "ETag": "\"1\""]
    var reload = try get(["Cache-Control": "max-age=0"])
    reload.scheme = "http"
    for (rules, decision) in [
      (privateRules, ReuseDecision.validate(.requestMaxAge(.seconds(0), age: .seconds(1)))),
      (sharedRules, .fresh(age: .seconds(1), lifetime: .seconds(3600))),
    ] {
      #expect(
        Reuse.decide(
          stored: try stored(200, fields, to: reload, rules: rules), request: reload,
          directives: RequestDirectives(reload.headerFields), policy: .standard, rules: rules,
          now: today.adding(1)) == decision)
    }
  }

  @Test("RFC 8246 §2 Arguments of immutable and repetitions have no meaning, nor has it in a request")
  func immutableForms() throws {
    for value in ["max-age=3600, immutable=0", "immutable, max-age=3600, immutable=\"x\""] {
      let kept = try stored(200, ["Cache-Control": value])
      #expect(
        try decide(kept, after: 1, ["Cache-Control": "max-age=0"])
          == .fresh(age: .seconds(1), lifetime: .seconds(3600)))
    }
    let plain = try stored(200, ["Cache-Control": "max-age=3600"])
    #expect(
      try decide(plain, after: 1, ["Cache-Control": "max-age=0, immutable"])
        == .validate(.requestMaxAge(.seconds(0), age: .seconds(1))))
  }

  // holds 8246-3-1
  @Test("RFC 8246 §3 A client heeds immutable from an authenticated origin only, or from this machine")
  func immutableOrigin() throws {
    func decision(_ scheme: String, _ authority: String, _ rules: CacheRules) throws -> ReuseDecision {
      let request = HTTPRequest(method: .get, scheme: scheme, authority: authority, path: "/")
      let kept = try stored(
        200, ["Cache-Control": "max-age=3600, immutable"], to: request, rules: rules)
      return Reuse.decide(
        stored: kept, request: request, directives: RequestDirectives(), policy: .revalidate,
        rules: rules, now: today.adding(1))
    }
    let fresh = ReuseDecision.fresh(age: .seconds(1), lifetime: .seconds(3600))
    for authority in ["localhost:8080", "127.0.0.1", "127.1.2.3:80", "[::1]:8080", "u@localhost"] {
      #expect(try decision("http", authority, privateRules) == fresh)
    }
    for authority in ["example.com", "127.0.0.1.example", "localhost:1@example.com", "[::2]"] {
      #expect(
        try decision("http", authority, privateRules) == .validate(.policy(.revalidate)))
    }
    #expect(try decision("https", "example.com", privateRules) == fresh)
    #expect(try decision("http", "example.com", sharedRules) == fresh)
  }

  // holds 9111-4-6
  @Test("§5.1 A response from the store has its current age in place of the one received")
  func ageField() throws {
    let kept = try stored(200, ["Cache-Control": "max-age=3600", "Age": "30"])
    let head = kept.head(age: Age.current(kept, now: today.adding(12)))
    #expect(head.headerFields[values: .age] == ["42"])
    #expect(head.headerFields[.cacheControl] == "max-age=3600")
  }
}
