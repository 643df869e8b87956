import HTTPCacheSemantics
import HTTPTypes
import Testing

@Suite(
  "Overrides in a shared cache: what protects users from each other has a switch of its own",
  .timeLimit(.minutes(10)))
struct OverrideSharingTests {
  private func rules(_ effects: RuleEffect...) -> CacheRules {
    CacheRules(mode: .shared, overrides: [RuleOverride(effects: effects)])
  }

  private static let dangerous: [RuleEffect] = [
    .ignoring([.noStore, .private, .noCache]), .cacheControl("public, max-age=60"),
    .lifetime(.exactly(.seconds(60))),
  ]

  @Test("private and no-store stay, whatever is ignored or replaced", arguments: dangerous)
  func protected(effect: RuleEffect) throws {
    #expect(
      try storing(["Cache-Control": "private, max-age=60"], rules: rules(effect))
        == .doNotStore(.privateInShared))
    #expect(
      try storing(["Cache-Control": "no-store, max-age=60"], rules: rules(effect))
        == .doNotStore(.noStoreDespiteOverride(override: "override 1 (any target)")))
  }

  @Test("with the switch they go, each with its own")
  func switched() throws {
    let ignoring = RuleEffect.ignoring([.noStore, .private])
    #expect(
      try storing(
        ["Cache-Control": "private, max-age=60"], rules: rules(ignoring, .sharingDespite([.private])))
        == .store)
    #expect(
      try storing(
        ["Cache-Control": "private, max-age=60"], rules: rules(ignoring, .sharingDespite([.noStore])))
        == .doNotStore(.privateInShared))
    #expect(
      try storing(
        ["Cache-Control": "no-store, max-age=60"], rules: rules(ignoring, .sharingDespite([.noStore])))
        == .store)
    #expect(
      try storing(
        ["Cache-Control": "private"],
        rules: rules(.cacheControl("max-age=60"), .sharingDespite([.private]))) == .store)
  }

  @Test("§3.5 no override allows sharing the answer to an authorized request")
  func authorization() throws {
    let request = try get(["Authorization": "Basic YQ=="])
    for effect in [
      RuleEffect.cacheControl("public, max-age=60"), .cacheControl("s-maxage=60"),
      .adding([.mustRevalidate]), .lifetime(.exactly(.seconds(60))),
    ] {
      #expect(
        try storing(["Cache-Control": "max-age=60"], to: request, rules: rules(effect))
          == .doNotStore(.authorized), "\(effect)")
    }
    #expect(
      try storing(
        ["Cache-Control": "public, max-age=60"], to: request, rules: rules(.adding([.mustRevalidate])))
        == .store)
    let sharing = rules(.sharingDespite([.authorization]))
    #expect(try storing(["Cache-Control": "max-age=60"], to: request, rules: sharing) == .store)
    let kept = try stored(200, ["Cache-Control": "max-age=60"], to: request, rules: sharing)
    #expect(try decide(kept, after: 1, rules: sharing) == .fresh(age: .seconds(1), lifetime: .seconds(60)))
    let plain = try #require(kept.seen(by: sharedRules))
    #expect(try decide(plain, after: 1, rules: sharedRules) == .miss(.absent))
  }

  @Test("Vary of credentials, and Vary: *, stay as well")
  func vary() throws {
    let pairs: KeyValuePairs = ["Vary": "Cookie, Accept", "ETag": "\"1\""]
    let request = try get(["Cookie": "a=b"])
    let kept = try stored(200, pairs, to: request, rules: rules(.ignoringVary([])))
    #expect(kept.nominated.map(\.name) == [.cookie])
    #expect(
      try storing(["Vary": "*", "ETag": "\"1\""], rules: rules(.ignoringVary([]))) == .doNotStore(.varyAny))
    let sharing = rules(.ignoringVary([]), .sharingDespite([.vary]))
    #expect(try stored(200, pairs, to: request, rules: sharing).nominated.isEmpty)
  }

  @Test("fields that private and no-cache name stay out of the store")
  func qualified() throws {
    let pairs: KeyValuePairs = [
      "Cache-Control": "max-age=60, private=\"X-A\", no-cache=\"X-B\"", "X-A": "1", "X-B": "2",
    ]
    for effect in Self.dangerous {
      let kept = try stored(200, pairs, rules: rules(effect))
      let names = kept.head.headerFields.map(\.name.canonicalName)
      #expect(!names.contains("x-a") && !names.contains("x-b"), "\(effect)")
    }
  }
}
