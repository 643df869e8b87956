import HTTPTypes
import Testing

@testable import HTTPCacheSemantics

@Suite("Guesses about responses to requests with credentials", .timeLimit(.minutes(10)))
struct Section4_2_2_CredentialTests {
  private let modified = "Sun, 19 May 2002 14:49:00 GMT"
  private static let credentials: [KeyValuePairs<String, String>] = [
    ["Cookie": "id=anna"], ["Authorization": "Bearer anna"],
  ]

  private func storing(
    _ fields: KeyValuePairs<String, String>, to credentials: KeyValuePairs<String, String>, rules: CacheRules
  ) throws -> StorageDecision {
    Storability.decide(
      request: try get(credentials), response: try response(200, fields), rules: rules, now: today)
  }

  @Test("§4.2.2 A shared cache does not store a response to a cookie for which it would have to guess")
  func refused() throws {
    let guessed: [KeyValuePairs<String, String>] = [
      ["Last-Modified": modified], ["ETag": "\"1\""],
      ["Last-Modified": modified, "Cache-Control": "must-revalidate"],
      ["Last-Modified": modified, "Cache-Control": "max-age"],
      ["ETag": "\"1\"", "Cache-Control": "max-age=0"],
      ["ETag": "\"1\"", "Expires": "0"],
    ]
    for fields in guessed {
      #expect(
        try storing(fields, to: ["Cookie": "id=anna"], rules: sharedRules) == .doNotStore(.credentials),
        "\(fields)")
      #expect(try storing(fields, to: ["Cookie": "id=anna"], rules: privateRules) == .store)
      #expect(try storing(fields, to: [:], rules: sharedRules) == .store)
    }
    // Without an override, §3.5 forbids to store the answer to Authorization first; must-revalidate permits it.
    #expect(
      try storing(
        ["Last-Modified": modified, "Cache-Control": "must-revalidate"], to: ["Authorization": "Bearer anna"],
        rules: sharedRules) == .doNotStore(.credentials))
  }

  @Test("§4.2.1 What the origin says about a lifetime counts for requests with cookies too")
  func explicit() throws {
    let allowed: [KeyValuePairs<String, String>] = [
      ["Cache-Control": "max-age=60"], ["Cache-Control": "s-maxage=60"],
      ["Expires": "Fri, 06 Nov 2020 13:00:00 GMT"],
      ["Cache-Control": "public", "Last-Modified": modified], ["Cache-Control": "no-cache", "ETag": "\"1\""],
      ["Cache-Control": "max-age=0, must-revalidate", "ETag": "\"1\""],
      ["Cache-Control": "no-cache", "Last-Modified": modified],
    ]
    for fields in allowed {
      #expect(try storing(fields, to: ["Cookie": "id=anna"], rules: sharedRules) == .store, "\(fields)")
    }
    var rules = sharedRules
    rules.overrides = [RuleOverride(effects: [.lifetime(.exactly(.seconds(60)))])]
    #expect(try storing(["Last-Modified": modified], to: ["Cookie": "a=b"], rules: rules) == .store)
    rules.overrides = [RuleOverride(effects: [.lifetime(.atMost(.seconds(60)))])]
    #expect(
      try storing(["Last-Modified": modified], to: ["Cookie": "a=b"], rules: rules)
        == .doNotStore(.credentials))
  }

  @Test("§4.2.2 A guess answers no request with credentials in a shared cache", arguments: credentials)
  func validated(credentials: KeyValuePairs<String, String>) throws {
    let guessed = try stored(200, ["Last-Modified": modified], rules: sharedRules)
    func decision(_ credentials: KeyValuePairs<String, String>, _ rules: CacheRules) throws -> ReuseDecision {
      let request = try get(credentials)
      return Reuse.decide(
        stored: guessed, request: request, directives: RequestDirectives(request.headerFields),
        policy: .standard,
        rules: rules, now: today)
    }
    #expect(try decision(credentials, sharedRules) == .validate(.guessWithCredentials))
    guard case .fresh = try decision([:], sharedRules), case .fresh = try decision(credentials, privateRules)
    else {
      Issue.record("not fresh")
      return
    }
    var shortening = sharedRules
    shortening.overrides = [RuleOverride(effects: [.lifetime(.atMost(.seconds(60)))])]
    let shortened = try stored(200, ["Last-Modified": modified], rules: shortening)
    #expect(shortened.facts.freshnessLifetime == 60)
    #expect(CredentialSharing.mustValidate(shortened.facts, for: try get(credentials), rules: shortening))
    let explicit = try stored(200, ["Cache-Control": "max-age=60"], rules: sharedRules)
    let request = try get(["Cookie": "a=b"])
    guard
      case .fresh = Reuse.decide(
        stored: explicit, request: request, directives: RequestDirectives(request.headerFields),
        policy: .standard,
        rules: sharedRules, now: today)
    else {
      Issue.record("not fresh")
      return
    }
  }

  @Test("§4.2.2 The explanation names the reason")
  func explained() throws {
    let explanation = CacheExplanation.storage(
      request: try get(["Cookie": "a=b"]), response: try response(200, ["Last-Modified": modified]),
      rules: sharedRules, now: today)
    #expect(
      explanation.steps.contains {
        $0.description
          == "Is it for other users too? no: it needs a lifetime, public or no-cache, as its request had Cookie or "
          + "Authorization (RFC 9111 §4.2.2)"
      })
    #expect(
      explanation.steps.last?.description.hasPrefix("Is it stored? no: Cookie or Authorization") == true)
  }
}
