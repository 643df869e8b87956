import HTTPTypes
import Testing

@testable import HTTPCacheSemantics

@Suite("Restrictions hold for each path that an origin may read", .timeLimit(.minutes(10)))
struct RestrictedReadingTests {
  private static let now = Timestamp(seconds: 1_700_000_000)

  private func rules(_ overrides: RuleOverride...) -> CacheRules {
    var rules = CacheRules(mode: .shared)
    rules.overrides = overrides
    return rules
  }

  private func request(_ path: String, host: String = "example.com") -> HTTPRequest {
    HTTPRequest(method: .get, scheme: "https", authority: host, path: path)
  }

  private func response(_ cacheControl: String? = "max-age=600") -> HTTPResponse {
    var response = HTTPResponse(status: .ok)
    response.headerFields[.cacheControl] = cacheControl
    response.headerFields[.eTag] = "\"1\""
    return response
  }

  private func decision(_ path: String, _ rules: CacheRules, host: String = "example.com") -> StorageDecision
  {
    Storability.decide(request: request(path, host: host), response: response(), rules: rules, now: Self.now)
  }

  private func facts(_ path: String, _ rules: CacheRules, _ cacheControl: String? = "max-age=600")
    -> ReuseFacts
  {
    Freshness.facts(
      response: response(cacheControl), requestTime: Self.now, responseTime: Self.now,
      rules: rules.resolved(for: request(path)))
  }

  @Test("no spelling that an origin reads as a page of never-store is stored", arguments: OriginModel.all)
  func spellings(origin: OriginModel) throws {
    let rules = rules(RuleOverride(try .glob("/secret"), try .glob("/secret/**"), effects: [.neverStore]))
    var generator = SpellingGenerator(seed: 20)
    var (restricted, seen) = (0, Set<String>())
    for _ in 0..<4_000 {
      let path = generator.next(of: "/secret")
      guard seen.insert(path).inserted, origin.reads(path, as: "/secret") else { continue }
      guard CacheKey.target(of: request(path)) != nil else { continue }
      restricted += 1
      #expect(decision(path, rules) == .doNotStore(.override), "\(path)")
    }
    #expect(restricted > 150)
  }

  @Test("a response that was stored before the restriction does not answer another spelling")
  func notUsed() throws {
    let plain = CacheRules(mode: .shared)
    let rules = rules(RuleOverride(try .glob("/secret"), effects: [.neverStore]))
    let stored = try StoredResponse.make(
      request: request("//secret"),
      response: ReceivedResponse(response(), requestTime: Self.now, responseTime: Self.now),
      isDecoded: false, rules: plain, digest: { _ in nil })
    #expect(stored.seen(by: plain) != nil)
    #expect(stored.seen(by: rules.resolved(for: request("//secret"))) == nil)
    #expect(stored.seen(by: rules.resolved(for: request("//public"))) != nil)
  }

  @Test(
    "other paths are as they were",
    arguments: [
      "/", "/secrets", "/a/secret", "/a.css", "/img/A%20b.png", "/caf%C3%A9", "/a;v=1", "/a%2Fb", "//a",
      "/a?x=/secret",
      "/public/secret.css/../x", "/(a)", "/a:b", "/x?%2fsecret", "/se/cret",
    ])
  func others(path: String) throws {
    let rules = rules(RuleOverride(try .glob("/secret"), try .glob("/secret/**"), effects: [.neverStore]))
    #expect(decision(path, rules) == .store)
  }

  @Test(
    "every restricting effect holds for another spelling",
    arguments: [
      (RuleEffect.lifetime(.atMost(.seconds(5))), "max-age=600" as String?, 5 as Int64),
      (.lifetime(.exactly(.seconds(0))), "max-age=600", 0), (.cacheControl("max-age=7"), "max-age=600", 7),
      (.cacheControl("max-age=7", whenAbsent: true), nil, 0), (.ignoring([.maxAge]), "max-age=600", 0),
      (.lifetime(.atLeast(.seconds(9_999))), "max-age=600", 600),
      (.lifetime(.exactly(.seconds(9_999))), "max-age=600", 600),
    ])
  func lifetimes(effect: RuleEffect, cacheControl: String?, expected: Int64) throws {
    let rules = rules(RuleOverride(try .glob("/a/**"), effects: [effect]))
    #expect(facts("//a/b", rules, cacheControl).freshnessLifetime == expected)
  }

  @Test(
    "every restricting directive holds for another spelling",
    arguments: [
      (RuleEffect.adding([.noCache]), ReuseFacts.Directives.noCache),
      (.cacheControl("no-cache, max-age=600"), .noCache),
      (.adding([.mustRevalidate]), .mustRevalidate), (.cacheControl("must-revalidate"), .mustRevalidate),
    ])
  func directives(effect: RuleEffect, expected: ReuseFacts.Directives) throws {
    let rules = rules(RuleOverride(try .glob("/a/**"), effects: [effect]))
    #expect(facts("/x/..;/a/b", rules).directives.contains(expected))
    #expect(!facts("/x/..;/b", rules).directives.contains(expected))
  }

  @Test(
    "an override of Cache-Control that forbids storing does so for another spelling",
    arguments: [
      (RuleEffect.adding([.noStore]), StorageRefusal.responseNoStore),
      (.cacheControl("no-store"), .responseNoStore),
      (.cacheControl("private"), .privateInShared),
    ])
  func refusals(effect: RuleEffect, expected: StorageRefusal) throws {
    let rules = rules(RuleOverride(try .glob("/a/**"), effects: [effect]))
    #expect(decision("/%5ca/b", rules) == .doNotStore(expected))
  }

  @Test("windows and stale responses: the strictest counts")
  func windows() throws {
    let rules = rules(
      RuleOverride(
        try .glob("/a"), effects: [.staleIfError(.seconds(0)), .allowsStaleWhenDisconnected(false)]))
    let cacheControl = "max-age=1, stale-if-error=60"
    #expect(facts("//a", rules, cacheControl)[.staleIfError] == 0)
    #expect(facts("//b", rules, cacheControl)[.staleIfError] == 60)
    #expect(!rules.resolved(for: request("/a%00")).concerning(response()).allowsStaleWhenDisconnected)
  }

  @Test("a permission needs the path itself, and no reading without it")
  func permissions() throws {
    let rules = rules(RuleOverride(try .glob("/static/**"), effects: [.lifetime(.exactly(.seconds(9_999)))]))
    #expect(facts("/static/a.css", rules).freshnessLifetime == 9_999)
    #expect(facts("/static//a%20b;v=1.css", rules).freshnessLifetime == 9_999)
    for path in ["//static/a", "/STATIC/a", "/static%2Fa", "/static/..%2faccount", "/static/..;/account"] {
      #expect(facts(path, rules).freshnessLifetime == 600, "\(path)")
    }
    // The name of a format or of a script is no other path: these rules are about it.
    let formats = self.rules(
      RuleOverride(try .glob("/**.css"), effects: [.lifetime(.exactly(.seconds(9_999)))]))
    #expect(facts("/v1.2/a.css", formats).freshnessLifetime == 9_999)
  }

  @Test("a later override allows what an earlier one forbids only for the same reading")
  func later() throws {
    let rules = rules(
      RuleOverride(try .glob("/app"), effects: [.neverStore]),
      RuleOverride(try .glob("/app.js"), try .glob("/static/**"), effects: [.stores(true)]))
    #expect(decision("/app.css", rules) == .doNotStore(.override))
    #expect(decision("/app.js", rules) == .store)
    #expect(decision("/static/..%2fapp", rules) == .doNotStore(.override))
  }

  @Test("Vary is ignored only if every reading ignores it (RFC 9111 §4.1)")
  func vary() throws {
    let rules = rules(RuleOverride(try .glob("/a/**"), effects: [.ignoringVary([.acceptLanguage])]))
    var varying = response()
    varying.headerFields[.vary] = "Accept-Language"
    for (path, isIgnored) in [("/a/b", true), ("/a//b", true), ("/a/..%2fb", false)] {
      guard case .names(let names) = Vary.names(of: varying, rules: rules.resolved(for: request(path))) else {
        Issue.record("no names")
        return
      }
      #expect(names.isEmpty == isIgnored, "\(path)")
    }
  }

  @Test("hosts, prefixes, expressions and predicates restrict other spellings too")
  func patterns() throws {
    let predicate = TargetPattern.matching("secret") { $0.path == "/secret" }
    let patterns = try [
      TargetPattern.prefix("https://example.com/secret"), .glob("https://example.com/secret"),
      .expression("example[.]com/secret$"), predicate,
    ]
    for pattern in patterns {
      #expect(
        decision("//x/../secret", rules(RuleOverride(pattern, effects: [.neverStore]))) != .store,
        "\(pattern)")
    }
    let host = rules(RuleOverride(try .host("example.com"), effects: [.neverStore]))
    for name in ["EXAMPLE.com", "example.com.", "example.com.:443"] {
      #expect(decision("/", host, host: name) == .doNotStore(.override), "\(name)")
    }
  }

  @Test("a path with too many readings is restricted by every override")
  func tooMany() throws {
    let rules = rules(RuleOverride(try .glob("/secret"), effects: [.neverStore]))
    let path = "/" + String(repeating: "a%2525252f%5c..;x%20%3f%23%00/", count: 400)
    #expect(PathReadings(of: path).isIncomplete)
    #expect(decision(path, rules) == .doNotStore(.override))
    #expect(decision(path, CacheRules(mode: .shared)) == .store)
  }

  @Test("each fact about reuse is restricted by other readings, but two")
  func everyFact() {
    func properties(_ facts: ReuseFacts) -> [String: String] {
      Dictionary(
        uniqueKeysWithValues: Mirror(reflecting: facts).children.map { ($0.label ?? "", "\($0.value)") })
    }
    let windows = ReuseWindows(Dictionary(uniqueKeysWithValues: ReuseWindow.allCases.map { ($0, 60) }))
    let facts = ReuseFacts(
      freshnessLifetime: 60, lifetimeSource: .maxAge, correctedInitialAge: 1, directives: [.public],
      windows: windows, overrides: 1)
    var restricted = facts
    restricted.restrict(
      to: ReuseFacts(
        freshnessLifetime: 0, lifetimeSource: .none, correctedInitialAge: 2, directives: [.noCache],
        windows: ReuseWindows(), overrides: 2))
    let (before, after) = (properties(facts), properties(restricted))
    // The age does not depend on rules, and the fingerprint is that of the target's own overrides.
    #expect(before.keys.filter { before[$0] == after[$0] }.sorted() == ["correctedInitialAge", "overrides"])
  }

  @Test("a hook that stores only some targets, or not some, knows other spellings as well")
  func hooks() throws {
    let pattern = try TargetPattern.glob("/secret/**")
    #expect(pattern.mayMatch(request("/x/..;/secret/a")))
    #expect(!pattern.mayMatch(request("/x/..;/public/a")))
    #expect(try TargetPattern.glob("/static/**").surelyMatches(request("/static/a")))
    #expect(try !TargetPattern.glob("/static/**").surelyMatches(request("/static/..%2fa")))
  }
}
