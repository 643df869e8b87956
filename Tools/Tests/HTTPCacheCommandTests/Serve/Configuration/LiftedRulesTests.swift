import Testing

@testable import HTTPCacheCommand

@Suite("The rules that overrides lift, however many there are", .timeLimit(.minutes(10)))
struct LiftedRulesTests {
  /// Compares all pairs.
  private func mayMeet(_ one: [PatternBeginning], _ other: [PatternBeginning]) -> Bool {
    one.contains { a in
      other.contains { b in a.part != b.part || a.text.hasPrefix(b.text) || b.text.hasPrefix(a.text) }
    }
  }

  @Test("are those of a comparison of all pairs")
  func same() {
    let patterns = [
      "/", "/**", "/a", "/a/**", "/a/b", "/ab", "/b/*", "/ba/x", "host:a.example", "host:*.example",
      "host:b.a",
      "https://a/*", "https://a/b", "http://*",
    ]
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<200 {
      let overrides = (0..<Int.random(in: 0...8, using: &generator)).map { _ -> LiftedRules.Override in
        let names = ["private", "no-store", "Vary"].filter { _ in Bool.random(using: &generator) }
        let some = patterns.filter { _ in Int.random(in: 0..<6, using: &generator) == 0 }
        return (names, some.isEmpty ? [PatternBeginning("")] : some.map { PatternBeginning($0) })
      }
      let rules = LiftedRules(overrides)
      for pattern in patterns + [""] {
        let own = [PatternBeginning(pattern)]
        let expected = Set(overrides.filter { mayMeet(own, $0.beginnings) }.flatMap(\.names))
        #expect(rules.names(for: own) == expected, "\(pattern) \(overrides)")
      }
    }
  }

  @Test("are kept as the shortest beginnings, with which a pattern is compared twice")
  func shortest() {
    let all: [LiftedRules.Override] = (100_000..<120_000).map {
      (["private"], [PatternBeginning("/a\($0 % 9 + 1)/\($0)/**")])
    }
    let rules = LiftedRules(all)
    #expect(rules.texts["private"]?[.path]?.count == 20_000)
    // 100,000 modulo 9 is 1.
    for (pattern, isLifted) in [
      ("/a2/100000/x", true), ("/a2/*", true), ("/a3/100000/x", false), ("/b", false),
    ] {
      #expect(rules.names(for: [PatternBeginning(pattern)]).isEmpty != isLifted, "\(pattern)")
    }
    let short: [LiftedRules.Override] = (1...9).map { (["private"], [PatternBeginning("/a\($0)/**")]) }
    #expect(LiftedRules(all + short).texts["private"]?[.path] == (1...9).map { "/a\($0)" })
  }
}
