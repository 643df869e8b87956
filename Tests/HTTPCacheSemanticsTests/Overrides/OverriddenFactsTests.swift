import HTTPCacheSemantics
import HTTPTypes
import Testing

@Suite("What is stored counts under the overrides of now, not of then", .timeLimit(.minutes(10)))
struct OverriddenFactsTests {
  private func rules(_ effects: RuleEffect..., targets: [TargetPattern] = []) throws -> CacheRules {
    CacheRules(overrides: [RuleOverride(targets, effects: effects)]).resolved(for: try get())
  }

  @Test("an override counts for what was stored before it, and no longer once it is gone")
  func bothWays() throws {
    let plain = try stored(200, ["Cache-Control": "max-age=60", "Age": "5"])
    let forced = try rules(.lifetime(.exactly(.seconds(600))))
    let seen = try #require(plain.seen(by: forced))
    #expect(seen.facts.freshnessLifetime == 600)
    #expect(seen.facts.correctedInitialAge == 5)
    let back = try #require(seen.seen(by: privateRules))
    #expect(back.facts == plain.facts)
    #expect(back == plain)
  }

  @Test("equal overrides need nothing derived anew, in whatever place they are")
  func sameOverrides() throws {
    let forced = try rules(.lifetime(.exactly(.seconds(600))))
    let kept = try stored(200, ["Cache-Control": "max-age=60"], rules: forced)
    #expect(kept.facts.overrides != 0)
    let renamed = CacheRules(overrides: [
      RuleOverride(try .glob("/other"), effects: [.neverStore]),
      RuleOverride(try .host("example.com"), name: "b", effects: [.lifetime(.exactly(.seconds(600)))]),
    ]).resolved(for: try get())
    #expect(kept.seen(by: renamed) == kept)
    let others = try rules(.lifetime(.exactly(.seconds(601))))
    #expect(kept.seen(by: others)?.facts.freshnessLifetime == 601)
  }

  @Test("overrides of keys alone leave the facts")
  func keysOnly() throws {
    let kept = try stored(200, ["Cache-Control": "max-age=60"], rules: try rules(.ignoringQuery))
    #expect(kept.facts.overrides == 0)
  }

  @Test("what was stored only because of an override is not used without it")
  func forbidden() throws {
    let kept = try stored(
      200, ["Cache-Control": "no-store", "ETag": "\"1\""], rules: try rules(.ignoring([.noStore])))
    #expect(kept.seen(by: privateRules) == nil)
    #expect(kept.seen(by: try rules(.ignoring([.noStore]))) == kept)
    #expect(kept.seen(by: try rules(.lifetime(.exactly(.seconds(5))))) == nil)
  }

  @Test("what must never be stored is not used where it is")
  func neverStore() throws {
    let kept = try stored(200, ["Cache-Control": "max-age=60"])
    #expect(kept.seen(by: try rules(.neverStore)) == nil)
    #expect(kept.seen(by: try rules(.adding([.noStore]))) == nil)
  }

  @Test("§4.1 a response stored without what Vary names is not used once that counts again")
  func vary() throws {
    let kept = try stored(
      200, ["Vary": "Accept", "ETag": "\"1\""], rules: try rules(.ignoringVary([.accept])))
    #expect(kept.seen(by: privateRules) == nil)
  }

  @Test("§4.3.4 a 304 is seen by the overrides that hold for what it confirms")
  func freshening() throws {
    let rules = CacheRules(overrides: [
      RuleOverride(
        mediaTypes: ["image/*"], effects: [.ignoring([.noStore]), .lifetime(.exactly(.seconds(90)))])
    ]).resolved(for: try get())
    let kept = try stored(
      200, ["Cache-Control": "no-store", "ETag": "\"1\"", "Content-Type": "image/png"], rules: rules)
    let updated = Freshening.updated(
      kept,
      with: ReceivedResponse(
        try response(304, ["Cache-Control": "no-store", "ETag": "\"1\""]), requestTime: today,
        responseTime: today), rules: rules)
    #expect(!updated.isInvalidated)
    #expect(updated.facts.freshnessLifetime == 90)
    #expect(updated.facts.overrides == kept.facts.overrides)
  }
}
