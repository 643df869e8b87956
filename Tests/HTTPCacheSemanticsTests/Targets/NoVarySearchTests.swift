import HTTPCacheSemantics
import HTTPTypes
import Testing

@Suite("draft-ietf-httpbis-no-vary-search", .timeLimit(.minutes(10)))
struct NoVarySearchTests {
  private func variance(_ value: String) throws -> SearchVariance {
    SearchVariance(try fields(["No-Vary-Search": value]))
  }

  private func names(_ names: String...) -> Set<[UInt8]> { Set(names.map { Array($0.utf8) }) }

  private func areEquivalent(_ first: String, _ second: String, _ value: String) throws -> Bool {
    let first = try #require(TargetURI.normalized("https://example.com/" + first))
    let second = try #require(TargetURI.normalized("https://example.com/" + second))
    let variance = try variance(value)
    let canonical = variance.canonical(first)
    #expect(variance.canonical(canonical) == canonical)
    return canonical == variance.canonical(second)
  }

  @Test("§5.2 Lists of parameters")
  func lists() throws {
    #expect(try variance("params=(\"a\")") == SearchVariance(parameters: .allBut(names("a"))))
    #expect(try variance("except=(\"x\")") == SearchVariance(parameters: .only(names("x"))))
    #expect(try variance("except=()") == SearchVariance(parameters: .only([])))
    #expect(try variance("params=()").isDefault)
    #expect(
      try variance("except=(\"x\"), key-order, future=1")
        == SearchVariance(parameters: .only(names("x")), variesOnOrder: false))
    #expect(try variance("key-order=?1") == SearchVariance(variesOnOrder: false))
    #expect(try variance("key-order=?0").isDefault)
    #expect(SearchVariance([:]).isDefault)
  }

  @Test(
    "§5.2 What is invalid is the default",
    arguments: [
      "key-order=\"no\"", "params=\"a\"", "params=(a)", "params=?0", "params=?1",
      "params=?1, except=(\"x\")", "params=(\"a\"), except=(\"x\")", "params=(), except=()",
      "except=\"a\"", "except=(a)", "except=?1", "params=(\"a\"", "params=(\"a\" 1)", "",
      "key-order=1, params=(\"a\")",
    ])
  func invalid(value: String) throws {
    #expect(try variance(value).isDefault)
  }

  @Test("§5.3 Keys are decoded as the names in a query are")
  func keys() throws {
    let value = "params=(\"%C3%A9+%E6%B0%97\")"
    #expect(try variance(value) == SearchVariance(parameters: .allBut(names("é 気"))))
    for query in ["?é%20気=1", "?é+気=2", "?%C3%A9%20気=3", "?%C3%A9+%E6%B0%97=4"] {
      #expect(try areEquivalent(query, "", value))
    }
  }

  @Test(
    "§6.1 What parsing makes equal is equivalent",
    arguments: [
      ("", "?"), ("?a=x", "?%61=%78"), ("?a=é", "?a=%C3%A9"), ("?a=%f6", "?a=%ef%bf%bd"),
      ("?a=x&&&&", "?a=x"), ("?a=", "?a"), ("?a=%20", "?a=+"), ("?a=+", "?a=%20&"),
    ])
  func parsing(first: String, second: String) throws {
    #expect(try areEquivalent(first, second, "key-order"))
    #expect(try areEquivalent(first, second, "params=(\"z\")"))
  }

  @Test(
    "§6 Queries are equivalent if they differ in nothing that makes a difference",
    arguments: [
      // By default only what is spelt the same is the same.
      ("a", "a?", "params=()", false), ("foo?a=b&&&c", "foo?a=b&c=", "key-order=?0", false),
      ("a?b", "a?b", "", true),
      // Parameters are left out.
      ("?a=1&b=2", "?a=1&b=3&b", "params=(\"b\")", true), ("?a=1&b=2", "?a=2&b=2", "params=(\"b\")", false),
      ("?a=1&b=2", "?c=3&a=1", "except=(\"a\")", true), ("?a=1&b=2", "?a=2", "except=(\"a\")", false),
      ("?a=1&b=2", "", "except=()", true), ("?A=1", "?A=2", "params=(\"a\")", false),
      // The order of names makes no difference with key-order, that of equal names always does.
      ("?a=1&b=2&a=3", "?b=2&a=1&a=3", "key-order", true), ("?a=1&a=3", "?a=3&a=1", "key-order", false),
      ("?a=1&b=2", "?b=2&a=1", "params=(\"c\")", false),
      ("?a=1&b=2&c", "?c=9&b=2&a=1", "key-order, params=(\"c\")", true),
      // Other paths are never equivalent.
      ("a?x", "b?x", "except=()", false),
      // A canonical form cannot be mistaken for another query.
      ("?a=1%26b=2", "?a=1&b=2", "key-order", false), ("?a%3D=1", "?a==1", "key-order", false),
      ("?a=%2B", "?a=+", "key-order", false), ("?a=b%", "?a=b%25", "key-order", true),
    ])
  func equivalence(first: String, second: String, value: String, areEqual: Bool) throws {
    #expect(try areEquivalent(first, second, value) == areEqual)
  }

  @Test("§6 Other origins are never equivalent")
  func elsewhere() throws {
    let variance = try variance("except=()")
    #expect(variance.canonical("https://example.com/a") != variance.canonical("http://example.com/a"))
  }

  @Test("A field that is too long is the default")
  func long() throws {
    #expect(try variance("params=(\"\(String(repeating: "a", count: 16_384))\")").isDefault)
  }

  @Test("§7 Rules have keys of their own, one for a path")
  func ruleKeys() throws {
    let first = try #require(CacheKey(request: try get("/a?b"), rules: CacheRules()))
    let second = try #require(CacheKey(request: try get("/a"), rules: CacheRules()))
    #expect(first.searchRule == second.searchRule)
    #expect(first.searchRule != second)
    #expect(first.searchRule.target == "https://example.com/a")
  }
}
