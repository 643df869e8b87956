import HTTPCacheSemantics
import HTTPTypes
import Testing

@Suite("Effects of overrides on responses", .timeLimit(.minutes(10)))
struct RuleOverrideTests {
  private func rules(
    _ effects: RuleEffect..., mode: CacheMode = .private, mediaTypes: [String] = [],
    statuses: Set<Int> = []
  ) -> CacheRules {
    CacheRules(
      mode: mode,
      overrides: [RuleOverride(mediaTypes: mediaTypes, statuses: statuses, effects: effects)])
  }

  private func facts(
    _ status: Int, _ pairs: KeyValuePairs<String, String>, _ rules: CacheRules
  ) throws -> ReuseFacts {
    Freshness.facts(
      response: try response(status, pairs), requestTime: today, responseTime: today,
      rules: rules.resolved(for: try get()))
  }

  private func facts(_ pairs: KeyValuePairs<String, String>, _ rules: CacheRules) throws -> ReuseFacts {
    try facts(200, pairs, rules)
  }

  @Test("a lifetime is exact, at least or at most; the later effect wins")
  func lifetimes() throws {
    let hour: KeyValuePairs = ["Cache-Control": "max-age=3600"]
    let exact = try facts(hour, rules(.lifetime(.exactly(.seconds(5)))))
    #expect(exact.freshnessLifetime == 5)
    #expect(exact.lifetimeSource == .override)
    #expect(try facts(hour, rules(.lifetime(.atLeast(.seconds(7_200))))).freshnessLifetime == 7_200)
    let kept = try facts(hour, rules(.lifetime(.atLeast(.seconds(60)))))
    #expect(kept.freshnessLifetime == 3_600)
    #expect(kept.lifetimeSource == .maxAge)
    #expect(try facts(hour, rules(.lifetime(.atMost(.seconds(60))))).freshnessLifetime == 60)
    let both = rules(
      .lifetime(.exactly(.seconds(50))), .lifetime(.atMost(.seconds(40))), .lifetime(.atLeast(.seconds(45))))
    #expect(try facts(hour, both).freshnessLifetime == 45)
    #expect(try facts(hour, rules(.lifetime(.exactly(.seconds(-5))))).freshnessLifetime == 0)
  }

  @Test("of several overrides all that match apply, the later one last")
  func order() throws {
    var rules = CacheRules()
    rules.overrides = [
      RuleOverride(effects: [.lifetime(.exactly(.seconds(10)))]),
      RuleOverride(try .glob("/other"), effects: [.lifetime(.exactly(.seconds(20)))]),
      RuleOverride(
        try .glob("/"), effects: [.lifetime(.exactly(.seconds(30))), .staleIfError(.seconds(9))]),
    ]
    let facts = try facts([:], rules)
    #expect(facts.freshnessLifetime == 30)
    #expect(facts[.staleIfError] == 9)
  }

  @Test("no lifetime is given to errors, unless the override names them")
  func errors() throws {
    let forced = rules(.lifetime(.exactly(.seconds(60))), .cacheControl("max-age=60"))
    #expect(try facts(503, [:], forced).freshnessLifetime == 0)
    #expect(try storing(503, rules: forced) == .doNotStore(.notCacheable(status: 503)))
    #expect(try storing(302, rules: forced) == .store)
    #expect(try storing(302, rules: rules(.lifetime(.atLeast(.seconds(60))))) == .store)
    let named = rules(.lifetime(.exactly(.seconds(60))), statuses: [503])
    #expect(try facts(503, [:], named).freshnessLifetime == 60)
    #expect(try facts(200, [:], named).freshnessLifetime == 0)
    #expect(
      try facts(503, ["Cache-Control": "max-age=9"], rules(.lifetime(.atMost(.seconds(5))))).freshnessLifetime
        == 5)
  }

  @Test("conditions: media types with and without wildcard, in any letter case")
  func mediaTypes() throws {
    for (type, isMatch) in [
      ("image/png", true), ("IMAGE/PNG ; a=b", true), ("image/pngx", false), ("text/html", false),
      ("video/mp4", true), ("video", false),
    ] {
      let rules = rules(.lifetime(.exactly(.seconds(60))), mediaTypes: ["Image/png", "video/*"])
      #expect(try facts(["Content-Type": type], rules).freshnessLifetime == (isMatch ? 60 : 0), "\(type)")
    }
    #expect(
      try facts([:], rules(.lifetime(.exactly(.seconds(60))), mediaTypes: ["*/*"])).freshnessLifetime == 0)
    #expect(
      try facts(["Content-Type": "a/b"], rules(.lifetime(.exactly(.seconds(60))), mediaTypes: ["*/*"]))
        .freshnessLifetime == 60)
  }

  @Test("heuristics of its own")
  func heuristics() throws {
    let modified: KeyValuePairs = ["Last-Modified": "Fri, 06 Nov 2020 11:00:00 GMT"]
    #expect(try facts(modified, rules(.heuristics(fraction: 0.5))).freshnessLifetime == 1_800)
    #expect(
      try facts(modified, rules(.heuristics(fraction: 0.5, limit: .seconds(60)))).freshnessLifetime == 60)
    #expect(try facts(modified, rules(.heuristics(fraction: 0))).lifetimeSource == .none)
  }

  @Test("directives are ignored one by one")
  func ignoring() throws {
    let all = "max-age=60, no-cache, must-revalidate, immutable, stale-if-error=5, private"
    let facts = try facts(
      ["Cache-Control": all, "Expires": "Fri, 06 Nov 2020 13:00:00 GMT"],
      rules(.ignoring([.noCache, .mustRevalidate, .maxAge, .staleIfError])))
    #expect(facts.directives == [.immutable, .private])
    #expect(facts[.staleIfError] == nil)
    #expect(facts.lifetimeSource == .expires)
    let none = try self.facts(
      ["Expires": "Fri, 06 Nov 2020 13:00:00 GMT"], rules(.ignoring([.expires])))
    #expect(none.lifetimeSource == .none)
    #expect(try storing(["Cache-Control": "no-store", "ETag": "\"1\""]) == .doNotStore(.responseNoStore))
    #expect(
      try storing(
        ["Cache-Control": "no-store", "ETag": "\"1\""], rules: rules(.ignoring([.noStore]))) == .store)
  }

  @Test("a refusal because of no-store names the override that asks to keep the response")
  func noStoreDespiteOverride() throws {
    let fields: KeyValuePairs = ["Cache-Control": "no-store", "ETag": "\"1\""]
    let refusal = StorageRefusal.noStoreDespiteOverride(override: "override 1 (any target)")
    for effect in [RuleEffect.lifetime(.exactly(.seconds(600))), .lifetime(.atLeast(.seconds(1))), .pin] {
      #expect(try storing(fields, rules: rules(effect)) == .doNotStore(refusal))
    }
    #expect("\(refusal)" == "no-store, which override 1 (any target) matches and does not lift")
    #expect(refusal.section == "RFC 9111 §5.2.2.5")
    // These overrides do not ask to keep it, or add `no-store` themselves.
    for effects in [
      [RuleEffect.lifetime(.atMost(.seconds(60)))], [.staleIfError(.seconds(60))],
      [.lifetime(.exactly(.seconds(600))), .adding([.noStore])],
    ] {
      let rules = CacheRules(overrides: [RuleOverride(effects: effects)])
      #expect(try storing(fields, rules: rules) == .doNotStore(.responseNoStore))
    }
  }

  @Test("directives are added, and go before what was ignored earlier")
  func adding() throws {
    let facts = try facts(
      ["Cache-Control": "max-age=60, no-cache"],
      rules(.ignoring([.noCache]), .adding([.noCache, .mustRevalidate, .immutable])))
    #expect(facts.directives == [.noCache, .mustRevalidate, .immutable])
    #expect(
      try storing(["Cache-Control": "max-age=60"], rules: rules(.adding([.noStore])))
        == .doNotStore(.responseNoStore))
    #expect(
      try storing(
        ["Cache-Control": "max-age=60, must-understand"], rules: rules(.adding([.noStore])))
        == .doNotStore(.responseNoStore))
  }

  @Test("a whole Cache-Control in place of the origin's, of Expires and of targeted fields")
  func replacing() throws {
    var rules = rules(.cacheControl("max-age=60, immutable"))
    rules.targetedFields = ["CDN-Cache-Control"]
    let facts = try facts(
      [
        "Cache-Control": "no-cache", "CDN-Cache-Control": "max-age=5",
        "Expires": "Fri, 06 Nov 2020 13:00:00 GMT",
      ], rules)
    #expect(facts.freshnessLifetime == 60)
    #expect(facts.lifetimeSource == .override)
    #expect(facts.directives == .immutable)
    let withoutLifetime = try self.facts(
      ["Expires": "Fri, 06 Nov 2020 13:00:00 GMT"], self.rules(.cacheControl("no-cache")))
    #expect(withoutLifetime.lifetimeSource == .none)
  }

  @Test("or only where the origin sends none")
  func whenAbsent() throws {
    let rules = rules(.cacheControl("max-age=60", whenAbsent: true))
    #expect(try facts([:], rules).freshnessLifetime == 60)
    #expect(try facts(["Cache-Control": "max-age=5"], rules).freshnessLifetime == 5)
    #expect(try facts(["Cache-Control": ""], rules).freshnessLifetime == 0)
    #expect(
      try facts(["Expires": "Fri, 06 Nov 2020 12:00:09 GMT", "Date": "Fri, 06 Nov 2020 12:00:00 GMT"], rules)
        .freshnessLifetime == 9)
  }

  @Test("the stored head stays what the origin sent (§3.1)")
  func head() throws {
    let kept = try stored(
      200, ["Cache-Control": "no-store", "ETag": "\"1\""],
      rules: rules(.cacheControl("max-age=60"), .adding([.immutable])))
    #expect(kept.head.headerFields[.cacheControl] == "no-store")
    #expect(kept.facts.freshnessLifetime == 60)
  }

  @Test("Vary of some names, or all of it")
  func vary() throws {
    let vary: KeyValuePairs = ["Vary": "Accept, User-Agent", "ETag": "\"1\""]
    let one = try stored(200, vary, rules: rules(.ignoringVary([.userAgent])))
    #expect(one.nominated.map(\.name) == [.accept])
    #expect(try stored(200, vary, rules: rules(.ignoringVary([]))).nominated.isEmpty)
    #expect(try storing(["Vary": "*", "ETag": "\"1\""], rules: rules(.ignoringVary([]))) == .store)
    #expect(
      try storing(["Vary": "*", "ETag": "\"1\""], rules: rules(.ignoringVary([.accept])))
        == .doNotStore(.varyAny))
    let before = try stored(200, vary, to: try get(["User-Agent": "a"]))
    let other = try get(["User-Agent": "b"])
    let resolved = rules(.ignoringVary([.userAgent])).resolved(for: other)
    #expect(Vary.matches(before, request: other, rules: resolved, digest: reversing))
    #expect(!Vary.matches(before, request: other, rules: privateRules, digest: reversing))
  }

  @Test("stale use is switched for some targets alone, and only where the conditions hold")
  func staleSwitches() throws {
    let kept = try stored(200, ["Cache-Control": "max-age=1", "Content-Type": "text/html"])
    #expect(try fallback(kept, after: 5) == .useStale(.disconnected))
    #expect(
      try fallback(kept, after: 5, rules: rules(.allowsStaleWhenDisconnected(false))) == .fail(.rules))
    #expect(
      try fallback(
        kept, after: 5, rules: rules(.allowsStaleWhenDisconnected(false), mediaTypes: ["image/*"]))
        == .useStale(.disconnected))
    let window = try stored(200, ["Cache-Control": "max-age=1, stale-while-revalidate=60"])
    guard case .stale = try decide(window, after: 5) else { Issue.record("not stale"); return }
    #expect(
      try decide(window, after: 5, rules: rules(.allowsStaleWhileRevalidate(false)))
        == .validate(.stale(age: .seconds(5), lifetime: .seconds(1))))
  }

  @Test("the request's wish for a new answer is ignored, but not its no-store and only-if-cached")
  func requestDirectives() throws {
    let rules = rules(.ignoringRequestDirectives)
    for value in ["no-cache", "max-age=0", "min-fresh=9999"] {
      let request = try get(["Cache-Control": value])
      let directives = RequestDirectives(of: request, rules: rules.resolved(for: request))
      #expect(directives == RequestDirectives(), "\(value)")
    }
    let request = try get(["Cache-Control": "no-store, only-if-cached, max-stale=5, no-cache"])
    let directives = RequestDirectives(of: request, rules: rules.resolved(for: request))
    #expect(directives.noStore && directives.onlyIfCached && directives.maxStale == 5)
    let pragma = try get(["Pragma": "no-cache"])
    #expect(!RequestDirectives(of: pragma, rules: rules.resolved(for: pragma)).pragmaNoCache)
  }

  @Test("never store has its own reason, and goes before pin; a later override may allow it again")
  func neverStore() throws {
    let pairs: KeyValuePairs = ["Cache-Control": "max-age=60"]
    #expect(try storing(200, pairs, rules: rules(.neverStore, .pin)) == .doNotStore(.override))
    #expect(try storing(200, pairs, rules: rules(.neverStore, .stores(true))) == .store)
    let html = rules(.neverStore, mediaTypes: ["text/html"])
    #expect(try storing(200, pairs, rules: html) == .store)
    #expect(
      try storing(200, ["Cache-Control": "max-age=60", "Content-Type": "text/html"], rules: html)
        == .doNotStore(.override))
    #expect(StorageRefusal.override.description == "an override says never to store it")
    let resolved = rules(.pin).resolved(for: try get())
    #expect(resolved.pins(try response()))
    #expect(!rules(.pin, .pins(false)).resolved(for: try get()).pins(try response()))
  }
}
