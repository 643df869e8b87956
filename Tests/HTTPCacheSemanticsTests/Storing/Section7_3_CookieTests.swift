import HTTPTypes
import Testing

@testable import HTTPCacheSemantics

@Suite(.timeLimit(.minutes(10))) struct Section7_3_CookieTests {
  private let modified = "Sun, 19 May 2002 14:49:00 GMT"
  private let strict = CacheRules(mode: .shared, refusesSetCookie: true)
  private let keeping = CacheRules(mode: .shared, keepsSetCookie: true)

  @Test("§7.3 A shared cache stores a response with Set-Cookie only if it says public, and without the field")
  func withoutTheField() throws {
    let allowed: [KeyValuePairs<String, String>] = [
      ["Set-Cookie": "a=b", "Cache-Control": "public, max-age=60"],
      ["Set-Cookie": "a=b", "Cache-Control": "public", "Last-Modified": modified],
      ["Set-Cookie": "a=b", "Cache-Control": "public, s-maxage=60"],
    ]
    for fields in allowed {
      #expect(try storing(200, fields, rules: sharedRules) == .store)
      let kept = try stored(200, fields, rules: sharedRules)
      #expect(!kept.head.headerFields.contains(.setCookie))
      #expect(try decide(kept, after: 1, rules: sharedRules) != .miss(.absent))
      #expect(try stored(200, fields, rules: privateRules).head.headerFields[.setCookie] == "a=b")
    }
    let refused: [KeyValuePairs<String, String>] = [
      ["Set-Cookie": "a=b", "Cache-Control": "max-age=60"],
      ["Set-Cookie": "a=b", "Cache-Control": "s-maxage=60"],
      ["Set-Cookie": "a=b", "Expires": "Fri, 06 Nov 2020 13:00:00 GMT"],
      ["Set-Cookie": "a=b", "Cache-Control": "max-age=60, public=x"],
    ]
    for fields in refused {
      #expect(try storing(200, fields, rules: sharedRules) == .doNotStore(.setCookie))
    }
  }

  @Test("§7.3 A response that was stored with Set-Cookie is not used by rules that leave the field out")
  func storedEarlier() throws {
    let fields: KeyValuePairs = ["Set-Cookie": "a=b", "Cache-Control": "public, max-age=60"]
    let kept = try stored(200, fields, rules: keeping)
    #expect(kept.head.headerFields[.setCookie] == "a=b")
    #expect(
      try decide(kept, after: 1, rules: keeping) == .fresh(age: .seconds(1), lifetime: .seconds(60)))
    #expect(try decide(kept, after: 1, rules: sharedRules) == .miss(.absent))
    #expect(try fallback(kept, after: 90, rules: sharedRules) == .fail(.setCookie))
    var overridden = sharedRules
    overridden.overrides = [RuleOverride(effects: [.lifetime(.atLeast(.seconds(90)))])]
    #expect(kept.seen(by: overridden.resolved(for: try get())) == nil)
  }

  @Test("§4.3.4 The client of a 304 with Set-Cookie gets the cookie, and nothing of the cookie is stored")
  func cookieOf304() throws {
    let explicit = try stored(200, ["Cache-Control": "max-age=60", "ETag": "\"1\""], rules: sharedRules)
    let update = Freshening.update(
      of: explicit,
      with: ReceivedResponse(
        try response(304, ["Set-Cookie": "sid=A", "ETag": "\"1\""]), requestTime: today, responseTime: today),
      rules: sharedRules)
    #expect(update.answer.head.headerFields[.setCookie] == "sid=A")
    #expect(!update.stored.head.headerFields.contains(.setCookie))
    #expect(!update.stored.isInvalidated)
  }

  @Test("§7.3 keepsSetCookie stores Set-Cookie under an explicit lifetime, never under a guessed one")
  func explicit() throws {
    let allowed: [KeyValuePairs<String, String>] = [
      ["Set-Cookie": "a=b", "Cache-Control": "max-age=60"],
      ["Set-Cookie": "a=b", "Cache-Control": "s-maxage=60"],
      ["Set-Cookie": "a=b", "Expires": "Fri, 06 Nov 2020 13:00:00 GMT"],
    ]
    for fields in allowed {
      #expect(try storing(200, fields, rules: keeping) == .store)
      #expect(try stored(200, fields, rules: keeping).head.headerFields[.setCookie] == "a=b")
    }
    let refused: [KeyValuePairs<String, String>] = [
      ["Set-Cookie": "a=b", "Last-Modified": modified],
      ["Set-Cookie": "a=b", "ETag": "\"1\""],
      ["Set-Cookie": "a=b", "ETag": "\"1\"", "Cache-Control": "no-cache"],
      ["Set-Cookie": "a=b", "ETag": "\"1\"", "Cache-Control": "max-age=0"],
      ["Set-Cookie": "a=b", "ETag": "\"1\"", "Cache-Control": "max-age=x"],
      ["Set-Cookie": "a=b", "ETag": "\"1\"", "Cache-Control": "max-age=60, s-maxage=x"],
      ["Set-Cookie": "a=b", "ETag": "\"1\"", "Expires": "Thu, 19 Nov 1981 08:52:00 GMT"],
      ["Set-Cookie": "a=b", "ETag": "\"1\"", "Expires": "0"],
    ]
    for fields in refused {
      #expect(try storing(200, fields, rules: keeping) == .doNotStore(.setCookie))
      #expect(try storing(200, fields, rules: sharedRules) == .doNotStore(.setCookie))
      #expect(try storing(200, fields, rules: privateRules) == .store)
    }
  }

  @Test("§7.3 The switch refuses it whatever the lifetime, in a shared cache only")
  func switched() throws {
    let fields: KeyValuePairs = ["Set-Cookie": "a=b", "Cache-Control": "public, max-age=60"]
    #expect(try storing(200, fields, rules: strict) == .doNotStore(.setCookie))
    #expect(try storing(200, fields, rules: CacheRules(refusesSetCookie: true)) == .store)
    // A response that was stored before the switch was turned on is not used either.
    let kept = try stored(200, fields, rules: keeping)
    #expect(
      try decide(kept, after: 1, rules: keeping) == .fresh(age: .seconds(1), lifetime: .seconds(60)))
    #expect(try decide(kept, after: 1, rules: strict) == .miss(.absent))
    #expect(try fallback(kept, after: 90, rules: strict) == .fail(.setCookie))
  }

  @Test(
    "§5.2.2.4, §5.2.2.7 Set-Cookie that is not stored keeps nothing from being stored",
    arguments: ["no-cache=\"set-cookie\"", "private=\"set-cookie\""])
  func unstored(directive: String) throws {
    let fields: KeyValuePairs = [
      "Set-Cookie": "a=b", "Last-Modified": modified, "Cache-Control": directive,
    ]
    for rules in [sharedRules, strict] { #expect(try storing(200, fields, rules: rules) == .store) }
  }

  @Test("§4.3.4, §4.3.5 A 304 or HEAD that brings Set-Cookie without explicit lifetime leaves the mark only")
  func freshening() throws {
    let guessed = try stored(200, ["Last-Modified": modified], rules: keeping)
    let update = Freshening.update(
      of: guessed,
      with: ReceivedResponse(
        try response(304, ["Set-Cookie": "sid=A", "Last-Modified": modified]), requestTime: today,
        responseTime: today), rules: keeping)
    #expect(update.stored.isInvalidated && update.stored.head == guessed.head)
    #expect(update.answer.head.headerFields[.setCookie] == "sid=A")
    #expect(
      Freshening.updatedByHead(
        guessed,
        with: ReceivedResponse(
          try response(200, ["Set-Cookie": "sid=A", "Last-Modified": modified]), requestTime: today,
          responseTime: today), rules: keeping) == .invalidate)
    let explicit = try stored(200, ["Cache-Control": "max-age=60", "ETag": "\"1\""], rules: keeping)
    for (rules, isMarked) in [(keeping, false), (strict, true)] {
      let fresh = Freshening.updated(
        explicit,
        with: ReceivedResponse(
          try response(304, ["Set-Cookie": "sid=A", "ETag": "\"1\""]), requestTime: today, responseTime: today
        ), rules: rules)
      #expect(fresh.isInvalidated == isMarked)
      #expect(fresh.head.headerFields.contains(.setCookie) == !isMarked)
    }
  }

  @Test("§7.3 An override's lifetime is not the origin's word; only sharing despite Set-Cookie is")
  func overrides() throws {
    let fields: KeyValuePairs = ["Set-Cookie": "a=b", "Last-Modified": modified]
    func rules(_ effects: [RuleEffect]) throws -> CacheRules {
      CacheRules(
        mode: .shared, refusesSetCookie: true, overrides: [RuleOverride(try .glob("/**"), effects: effects)])
    }
    #expect(
      try storing(200, fields, rules: rules([.lifetime(.exactly(.seconds(60)))])) == .doNotStore(.setCookie))
    #expect(
      try storing(
        200, fields, rules: rules([.lifetime(.exactly(.seconds(60))), .sharingDespite([.setCookie])]))
        == .store)
  }

  @Test("RFC 9110 §6.5.1 Set-Cookie among the trailers is not stored in a shared cache")
  func trailers() throws {
    let head = try response(200, ["Cache-Control": "max-age=60"])
    let trailers = try fields(["Set-Cookie": "a=b", "X": "1"])
    #expect(
      try FieldHygiene.storable(trailers: trailers, of: head, rules: sharedRules) == fields(["X": "1"]))
    #expect(FieldHygiene.storable(trailers: trailers, of: head, rules: privateRules) == trailers)
  }

  @Test("§7.3 The explanation says why")
  func explained() throws {
    let explanation = CacheExplanation.storage(
      request: try get(), response: try response(200, ["Set-Cookie": "a=b", "Last-Modified": modified]),
      rules: sharedRules, now: today)
    #expect(
      explanation.steps.contains {
        $0.description
          == "May its cookie be given to all? no: Set-Cookie in a shared cache (RFC 9111 §7.3)"
      })
    #expect(
      explanation.steps.last?.description
        == "Is it stored? no: Set-Cookie in a shared cache (RFC 9111 §7.3)")
  }
}
