import HTTPCacheSemantics
import HTTPTypes
import Testing

@Suite("Keys as overrides make them", .timeLimit(.minutes(10)))
struct OverriddenKeyTests {
  private func key(_ path: String, _ effects: RuleEffect...) throws -> String {
    let rules = CacheRules(overrides: [RuleOverride(effects: effects)])
    let key = try #require(CacheKey(request: try get(path), rules: rules))
    return String(key.target.dropFirst("https://example.com".count))
  }

  @Test("query items are dropped by their decoded names, the rest stays as it is spelt")
  func dropping() throws {
    let utm = RuleEffect.droppingQuery(["utm_*", "fbclid"])
    #expect(try key("/a?utm_source=x&b=%2F&&utm_medium&c", utm) == "/a?b=%2F&&c")
    #expect(try key("/a?utm%5Fsource=x", utm) == "/a")
    #expect(try key("/a?UTM_source=x&fbclidx=1", utm) == "/a?UTM_source=x&fbclidx=1")
    #expect(try key("/a?fbclid", utm) == "/a")
    #expect(try key("/a?", utm) == "/a?")
    #expect(try key("/a", utm) == "/a")
  }

  @Test("only some are kept, none, or all in order")
  func others() throws {
    #expect(try key("/a?x=1&id=2&y=3&id=1", .keepingQuery(["id"])) == "/a?id=2&id=1")
    #expect(try key("/a?x=1", .keepingQuery([])) == "/a")
    #expect(try key("/a?x=1#f", .ignoringQuery) == "/a")
    #expect(try key("/a?b=2&a=1&b=1&a", .sortingQuery) == "/a?a=1&a&b=2&b=1")
  }

  @Test("the path in lower case: ASCII alone, not the query, not percent-encoding")
  func lowercasing() throws {
    #expect(try key("/Img/%C3%84%2FB.PNG?A=B", .lowercasingPath) == "/img/%C3%84%2Fb.png?A=B")
  }

  @Test("contradictory effects: in order, each on what the earlier ones left")
  func contradictions() throws {
    #expect(try key("/a?x=1&y=2", .keepingQuery(["x"]), .droppingQuery(["x"])) == "/a")
    #expect(try key("/a?x=1&y=2", .droppingQuery(["x"]), .keepingQuery(["x"])) == "/a")
    #expect(try key("/a?x=1&y=2", .droppingQuery(["x"]), .keepingQuery(["y"])) == "/a?y=2")
  }

  @Test("QUERY may have overrides of its own, and keeps its method class")
  func methods() throws {
    let rules = CacheRules(overrides: [RuleOverride(methods: [.get], effects: [.ignoringQuery])])
    let query = try #require(CacheKey(request: try get("/a?b", method: .query), rules: rules))
    #expect(query.target == "https://example.com/a?b")
    #expect(query.methodClass == .query)
    #expect(CacheKey(request: try get("/a?b"), rules: rules)?.target == "https://example.com/a")
  }

  @Test("an invalidation reaches every key that a target may have")
  func reach() throws {
    var rules = CacheRules(overrides: [
      RuleOverride(try .glob("/a"), effects: [.lowercasingPath]),
      RuleOverride(try .glob("/A"), effects: [.lowercasingPath, .lifetime(.exactly(.seconds(5)))]),
      RuleOverride(.matching("p") { _ in false }, effects: [.ignoringQuery]),
      RuleOverride(methods: [.query], effects: [.droppingQuery(["x"])]),
    ])
    let targets = try #require(rules.keyTargets(of: "https://example.com/A?x=1&y"))
    #expect(
      Set(targets) == [
        "https://example.com/A?x=1&y", "https://example.com/a?x=1&y", "https://example.com/a",
        "https://example.com/a?y",
      ])
    rules.overrides += (0..<6).map { index in
      RuleOverride(.matching("\(index)") { _ in true }, effects: [.droppingQuery(["\(index)"])])
    }
    #expect(rules.keyTargets(of: "https://example.com/A") == nil)
    #expect(CacheRules().keyTargets(of: "https://example.com/A") == ["https://example.com/A"])
  }

  @Test("without overrides the key is the target, and a response is keyed by any rules")
  func plain() throws {
    #expect(CacheKey(request: try get("/A?b"), rules: privateRules)?.target == "https://example.com/A?b")
    var kept = try stored(200, ["ETag": "\"1\""])
    #expect(kept.isKeyed(by: privateRules))
    kept.keyFingerprint = 5
    #expect(!kept.isKeyed(by: privateRules))
    let dropping = CacheRules(overrides: [RuleOverride(effects: [.ignoringQuery])])
      .resolved(for: try get())
    #expect(!kept.isKeyed(by: dropping))
  }
}
