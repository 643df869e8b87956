import HTTPCacheSemantics
import HTTPTypes
import Testing

@Suite(.timeLimit(.minutes(10))) struct Section4_2_2_HeuristicTests {
  private func facts(
    _ pairs: KeyValuePairs<String, String>, rules: CacheRules = privateRules
  ) throws -> ReuseFacts {
    try facts(200, pairs, rules: rules)
  }

  private func facts(
    _ status: Int, _ pairs: KeyValuePairs<String, String>, rules: CacheRules = privateRules
  ) throws -> ReuseFacts {
    Freshness.facts(
      response: try response(status, pairs), requestTime: today, responseTime: today, rules: rules)
  }

  @Test("§4.2.2 A body last modified on 19 May 2002 is fresh for 674 days on 6 November 2020")
  func golden() throws {
    let kept = try stored(
      200, ["Content-Length": "20702285", "Last-Modified": "Sun, 19 May 2002 14:49:00 GMT"])
    #expect(kept.facts.lifetimeSource == .heuristic)
    #expect(kept.facts.freshnessLifetime / 86_400 == 674)
    let day: Int64 = 86_400
    #expect(
      try decide(kept, after: 674 * day)
        == .fresh(age: .seconds(674 * day), lifetime: .seconds(kept.facts.freshnessLifetime)))
    #expect(
      try decide(kept, after: 675 * day)
        == .validate(.stale(age: .seconds(675 * day), lifetime: .seconds(kept.facts.freshnessLifetime))))
  }

  // holds 9111-4.2.2-2
  @Test("§4.2.2 The lifetime is a share of the interval between Last-Modified and Date")
  func share() throws {
    let fields: KeyValuePairs = [
      "Last-Modified": "Fri, 06 Nov 2020 10:00:00 GMT", "Date": "Fri, 06 Nov 2020 11:00:00 GMT",
    ]
    #expect(try facts(fields).freshnessLifetime == 360)
    #expect(try facts(fields, rules: CacheRules(heuristicFraction: 0.5)).freshnessLifetime == 1800)
    #expect(try facts(fields, rules: CacheRules(heuristicLimit: .seconds(60))).freshnessLifetime == 60)
  }

  @Test("§4.2.2 A guess ends after thirty years' tenth in a private cache, after a day in a shared one")
  func limits() throws {
    let epoch: KeyValuePairs = ["Last-Modified": "Thu, 01 Jan 1970 00:00:00 GMT"]
    let day: Int64 = 86_400
    #expect(try facts(epoch).freshnessLifetime == 1_095 * day)
    #expect(try facts(epoch, rules: sharedRules).freshnessLifetime == day)
    #expect(
      try facts(epoch, rules: CacheRules(heuristicLimit: .seconds(Int64.max))).freshnessLifetime > 1_800 * day
    )
    #expect(
      try facts(epoch, rules: CacheRules(mode: .shared, heuristicLimit: .seconds(7 * day))).freshnessLifetime
        == 7 * day)
    // The limit is that of the mode, whenever it is set.
    var rules = CacheRules()
    rules.mode = .shared
    #expect(try facts(epoch, rules: rules).freshnessLifetime == day)
    #expect(
      try facts(["Last-Modified": "Fri, 06 Nov 2020 02:00:00 GMT"], rules: sharedRules).freshnessLifetime
        == 3_600)
  }

  @Test("§4.2.2 Off, in the future or absurd: no lifetime, and nothing traps")
  func none() throws {
    let hourAgo: KeyValuePairs = ["Last-Modified": "Fri, 06 Nov 2020 11:00:00 GMT"]
    for fraction in [0, -1, Double.nan, -Double.infinity] {
      #expect(
        try facts(hourAgo, rules: CacheRules(heuristicFraction: fraction)).lifetimeSource == .none)
    }
    #expect(
      try facts(hourAgo, rules: CacheRules(heuristicFraction: .infinity)).freshnessLifetime
        > 1_000_000)
    #expect(try facts(["Last-Modified": "Fri, 06 Nov 2020 13:00:00 GMT"]).lifetimeSource == .none)
    #expect(try facts(["Last-Modified": "foo"]).lifetimeSource == .none)
    #expect(
      try facts([
        "Last-Modified": "Fri, 06 Nov 2020 12:00:00 GMT", "Date": "Sun, 06 Nov 2050 12:00:00 GMT",
      ]).lifetimeSource == .none)
  }

  // holds 9111-4.2.2-1, 9111-4.2.2-2, 9111-5.2.2.9-1
  @Test("§4.2.2 Not next to an explicit lifetime, and only for statuses or directives that allow it")
  func allowed() throws {
    let modified = "Mon, 06 Nov 2000 12:00:00 GMT"
    #expect(
      try facts(["Last-Modified": modified, "Cache-Control": "max-age=0"]).freshnessLifetime == 0)
    #expect(try facts(302, ["Last-Modified": modified]).lifetimeSource == .none)
    #expect(
      try facts(302, ["Last-Modified": modified, "Cache-Control": "public"]).lifetimeSource
        == .heuristic)
    #expect(
      try facts(302, ["Last-Modified": modified, "Cache-Control": "private"]).lifetimeSource
        == .heuristic)
  }
}
