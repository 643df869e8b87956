import HTTPCacheSemantics
import HTTPTypes
import Testing

/// Directives that are there, but malformed.
@Suite(.timeLimit(.minutes(10))) struct MalformedDirectiveTests {
  private static let junk = ["=1x\"", "=;", "=", " x", ";q=1", "=\"a", "=a b", "/"]

  private func parsed(_ value: String) throws -> ResponseDirectives {
    ResponseDirectives(try fields(["Cache-Control": value]), rules: sharedRules)
  }

  private func authorized(_ value: String) throws -> StorageDecision {
    try storing(
      200, ["Cache-Control": value, "ETag": "\"1\""], to: get(["Authorization": "x"]), rules: sharedRules)
  }

  // holds 9111-3-6
  @Test("§3.5 Malformed public, must-revalidate and s-maxage allow no sharing", arguments: junk)
  func sharing(junk: String) throws {
    for name in ["public", "must-revalidate", "s-maxage"] {
      #expect(try authorized("max-age=60, \(name)\(junk)") == .doNotStore(.authorized))
    }
  }

  @Test(
    "§3.5 An argument that public and must-revalidate do not have, and seconds that are none",
    arguments: ["public=1", "must-revalidate=\"a\"", "s-maxage=abc", "s-maxage=1.5", "s-maxage"])
  func arguments(value: String) throws {
    #expect(try authorized("max-age=60, \(value)") == .doNotStore(.authorized))
    #expect(try authorized("max-age=60, \(value), public") == .store)
  }

  @Test("§3.5 The well-formed directive permits, whatever malformed one is next to it")
  func both() throws {
    for value in [
      "must-revalidate, must-revalidate=;", "must-revalidate=;, must-revalidate", "s-maxage=5, s-maxage=a",
      "s-maxage=a, s-maxage=5", "public=;, public",
    ] {
      #expect(try authorized(value) == .store)
    }
  }

  @Test("§5.2.2.4 more names than one response has are the whole of it")
  func manyNames() throws {
    let many = (0..<20_000).map { "no-cache=a\($0)" }.joined(separator: ", ")
    #expect(try parsed(many).noCache == .whole)
  }

  @Test("§4.2.4 Malformed must-revalidate, proxy-revalidate and s-maxage forbid stale use all the same")
  func restricting() throws {
    for (value, refusal) in [
      ("must-revalidate=;", FallbackRefusal.mustRevalidate), ("proxy-revalidate=1x\"", .proxyRevalidate),
      ("s-maxage=abc", .sMaxAge),
    ] {
      let kept = try stored(
        200, ["Cache-Control": "max-age=5, \(value)", "ETag": "\"1\""], rules: sharedRules)
      #expect(try fallback(kept, after: 60, rules: sharedRules) == .fail(refusal))
    }
    #expect(try parsed("s-maxage=abc, max-age=60").sMaxAge == 0)
    #expect(try parsed("no-store=1x\"").noStore)
    #expect(try parsed("no-cache=;").noCache == .whole)
    #expect(try parsed("private=;").private == .whole)
  }

  @Test("§5.2.2.3 Malformed must-understand lifts no no-store, but asks for understanding", arguments: junk)
  func mustUnderstand(junk: String) throws {
    #expect(
      try storing(200, ["Cache-Control": "max-age=60, no-store, must-understand\(junk)"])
        == .doNotStore(.responseNoStore))
    #expect(
      try storing(599, ["Cache-Control": "max-age=60, must-understand\(junk)"])
        == .doNotStore(.statusNotUnderstood(599)))
  }

  @Test(
    "§3 What makes a response storable does so only if well-formed",
    arguments: ["max-age=abc", "max-age", "s-maxage=abc", "public=1", "public=;", "max-age=-1"])
  func storable(value: String) throws {
    #expect(
      try storing(302, ["Cache-Control": value, "ETag": "\"1\""], rules: sharedRules)
        == .doNotStore(.notCacheable(status: 302)))
  }

  @Test("§3, §5.3 Malformed private and Expires make nothing storable in a private cache")
  func privateAndExpires() throws {
    let tag: KeyValuePairs = ["Cache-Control": "private=;", "ETag": "\"1\""]
    #expect(try storing(302, tag) == .doNotStore(.notCacheable(status: 302)))
    #expect(try storing(302, ["Cache-Control": "private", "ETag": "\"1\""]) == .store)
    #expect(
      try storing(302, ["Cache-Control": "private=\"a\"", "ETag": "\"1\""]) == .store)
    #expect(
      try storing(302, ["Expires": "soon", "ETag": "\"1\""]) == .doNotStore(.notCacheable(status: 302)))
  }

  @Test("RFC 9110 §9.3.3 A malformed lifetime is no explicit one: no POST is stored for it")
  func post() throws {
    let request = HTTPRequest(method: .post, scheme: "https", authority: "example.com", path: "/")
    let fields: KeyValuePairs = [
      "Cache-Control": "max-age=abc", "Content-Location": "/", "ETag": "\"1\"",
    ]
    #expect(try storing(200, fields, to: request) == .doNotStore(.method(.post)))
  }

  @Test("RFC 5861 §3, §4 Malformed windows allow nothing stale", arguments: ["=x", "=", "", "=1.5", "=-1"])
  func windows(argument: String) throws {
    let directives = try parsed("stale-while-revalidate\(argument), stale-if-error\(argument)")
    #expect(directives.windows == ReuseWindows())
  }

  @Test(
    "RFC 8246 §2 immutable without its syntax lengthens nothing", arguments: ["=", ";", " x", "=\"a", "=;"])
  func immutable(junk: String) throws {
    #expect(try !parsed("max-age=60, immutable\(junk)").flags.contains(.immutable))
  }

  @Test("§5.2 A quoted string without an end hides no directive that restricts, and permits none")
  func unterminated() throws {
    let directives = try parsed("ext=\"a, no-store, private, max-age=60, public, must-revalidate")
    #expect(directives.noStore && directives.private == .whole && directives.maxAge == 0)
    #expect(directives.flags.contains(.mustRevalidate) && !directives.flags.contains(.public))
    #expect(
      try authorized("max-age=60, ext=\"a, must-revalidate") == .doNotStore(.authorized))
    #expect(try !parsed("ext=\"a, no-store\", max-age=5").noStore)
  }

  @Test(
    "§5.2 Neither does anything else that is malformed",
    arguments: [
      "ext=a; NAME", "ext=a NAME", "ext; NAME", "ext NAME", "ext=\"a\" NAME", "ext=\"a\" NAME=\"b\"",
      "ext=\"a\\\" NAME", "ext==NAME", "ext=;NAME", "\"NAME\"", "\"max-age=60, NAME\"", "(NAME)", "=NAME",
      ";NAME", "NAME;a", "@NAME",
    ])
  func hidden(pattern: String) throws {
    let value = { (name: String) in pattern.replacing("NAME", with: name) }
    #expect(try parsed("max-age=60, " + value("no-store")).noStore)
    #expect(try parsed(value("private") + ", max-age=60").private == .whole)
    #expect(try parsed(value("max-age")).maxAge == 0)
    #expect(try !parsed(value("public") + ", max-age=60").flags.contains(.public))
  }

  @Test(
    "RFC 9110 §5.6.4 A well-formed argument has no directives",
    arguments: ["ext=no-store", "ext=\"no-store\"", "ext=\"a, no-store; b\"", "ext=\"a\\\" no-store\""])
  func argument(value: String) throws { #expect(try !parsed(value + ", max-age=60").noStore) }

  @Test("RFC 9213 §2.1 A targeted field permits by well-formed members only")
  func targeted() throws {
    let rules = CacheRules(mode: .shared, targetedFields: ["CDN-Cache-Control"])
    for value in ["max-age=9, s-maxage=-1", "max-age=9, public=1", "max-age=9, must-revalidate=\"a\""] {
      #expect(
        try storing(
          200, ["CDN-Cache-Control": value, "ETag": "\"1\""], to: get(["Authorization": "x"]), rules: rules)
          == .doNotStore(.authorized))
    }
    #expect(
      try storing(302, ["CDN-Cache-Control": "max-age=-1", "ETag": "\"1\""], rules: rules)
        == .doNotStore(.notCacheable(status: 302)))
    let directives = ResponseDirectives(
      try fields(["CDN-Cache-Control": "max-age=9, stale-while-revalidate=-1, stale-if-error=-1"]),
      rules: rules)
    #expect(directives.windows == ReuseWindows())
  }

  @Test("§5.2.1 Of a request, too: malformed max-stale allows nothing, malformed min-fresh asks for all")
  func request() throws {
    func parsed(_ value: String) throws -> RequestDirectives {
      RequestDirectives(try fields(["Cache-Control": value]))
    }
    for junk in ["=x", "=", " 5", ";", "=\"5", "=5 6"] {
      #expect(try parsed("max-stale\(junk)").maxStale == nil)
      #expect(try parsed("stale-if-error\(junk)").staleIfError == nil)
      #expect(try #require(parsed("min-fresh\(junk)").minFresh) > 1_000_000_000)
    }
    #expect(try parsed("no-store=;").noStore && parsed("no-cache=;").noCache)
    #expect(try parsed("only-if-cached x").onlyIfCached)
  }
}
