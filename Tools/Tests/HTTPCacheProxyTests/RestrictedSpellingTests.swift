import HTTPCaching
import HTTPTypes
import ServerTesting
import Testing

@testable import HTTPCacheProxy

@Suite("Spellings of a path that must not be cached", .timeLimit(.minutes(10)))
struct RestrictedSpellingTests {
  private static let spellings = [
    "/account/x.css", "/account.css", "/account;x.css", "//account", "/./account", "/x/..;/account",
    "/account%2fme",
    "/account%5Cme", "/ACCOUNT", "/account%00x.css", "/account%0a", "/account%3fx.css", "/%2561ccount",
    "/account%c0%afx", "/account%ef%bc%8fme", "/x/%252e%252e/account", "/account%20", "/\\account",
    "//h/account",
  ]

  private func restrict(_ routes: inout [GatewayRoute]) {
    var account = routes[0]
    (account.path, account.isCached) = ("/account", false)
    routes.insert(account, at: 0)
  }

  @Test(
    "a route without a cache also has spellings that its origin may read as its path", arguments: spellings)
  func routes(_ target: String) async throws {
    try await withProxy(cache: try memoryCache(), configure: { $0.changeRoutes(restrict) }) { proxy in
      try await proxy.miss(target, answer: "victim")
      try await proxy.miss(target, answer: "attacker")
    }
  }

  @Test("never-store also holds for spellings that an origin may read as its path", arguments: spellings)
  func overrides(_ target: String) async throws {
    var rules = CacheRules(mode: .shared)
    rules.overrides = [
      RuleOverride(try .glob("/account"), try .glob("/account/**"), effects: [.neverStore])
    ]
    let cache = try HTTPCache.open(HTTPCache.Configuration(memoryCapacity: 8 << 20, rules: rules))
    try await withProxy(cache: cache) { proxy in
      try await proxy.miss(target, answer: "victim")
      try await proxy.miss(target, answer: "attacker")
    }
  }

  @Test(
    "other paths are cached as before",
    arguments: ["/accounts", "/x;account", "/x%2Faccount", "/a%20b.css", "/x?/account"])
  func others(_ target: String) async throws {
    try await withProxy(cache: try memoryCache(), configure: { $0.changeRoutes(restrict) }) { proxy in
      try await proxy.miss(target, answer: "stored")
      #expect(try await proxy.hit(target).hasSuffix("stored"))
    }
  }

  @Test("a route for a path that comes before one without a cache decides about it")
  func ownRoute() async throws {
    try await withProxy(
      cache: try memoryCache(),
      configure: {
        $0.changeRoutes { routes in
          restrict(&routes)
          var script = routes[1]
          script.path = "/account.js"
          routes.insert(script, at: 0)
        }
      }
    ) { proxy in
      try await proxy.miss("/account.js", answer: "stored")
      #expect(try await proxy.hit("/account.js").hasSuffix("stored"))
      try await proxy.miss("/account.css", answer: "victim")
      try await proxy.miss("/account.css", answer: "attacker")
    }
  }

  @Test(
    "a route covers spellings of its path and its host",
    arguments: [
      (nil, "/api", nil, "/API/users", true), (nil, "/api", nil, "/api.json", true),
      (nil, "/api", nil, "/apiary", false),
      (nil, "/Api/", nil, "/api", true), ("a", "/", "a.", "/x", true), ("a", "/api", "b", "/api", false),
    ] as [(String?, String, String?, String, Bool)])
  func covers(_ host: String?, _ path: String, _ asked: String?, _ target: String, _ expected: Bool) {
    var route = GatewayRoute(to: OriginGroup(Origin(isSecure: false, host: "origin")))
    (route.host, route.path) = (host, path)
    #expect(route.covers(host: asked, path: target) == expected)
  }
}
