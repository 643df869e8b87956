import HTTPCacheSemantics
import HTTPTypes

extension HostileExchange {
  private static let effectsWithoutSeconds: [RuleEffect] = [
    .lifetime(.exactly(.seconds(60))), .lifetime(.exactly(.seconds(-1))),
    .lifetime(.atLeast(.seconds(Int64.max))), .lifetime(.atMost(.seconds(5))),
    .heuristics(fraction: 5, limit: nil), .heuristics(fraction: -.infinity), .heuristics(fraction: .nan),
    .ignoring(Set(RuleEffect.Ignored.allCases)),
    .ignoring([.noStore]), .ignoring([.private, .noCache]), .ignoringVary([]),
    .ignoringVary([.acceptEncoding]), .adding([.noStore]), .adding([.mustRevalidate, .immutable]),
    .cacheControl("public, max-age=3600"), .cacheControl("\",=;\u{80}", whenAbsent: true),
    .allowsStaleIfError(false), .allowsStaleWhenDisconnected(false), .sharingDespite([.vary]),
    .sharingDespite([.authorization]), .stores(false), .stores(true), .pins(true),
    .ignoringRequestDirectives, .droppingQuery(["utm_*", ""]), .keepingQuery(["a", "*"]), .ignoringQuery,
    .sortingQuery, .lowercasingPath, .alias(.contentLocation),
  ]

  private static let effects =
    effectsWithoutSeconds
    + ReuseWindow.allCases.flatMap { window in
      [Int64.min, Int64.max].map { RuleEffect.window(window, .seconds($0)) }
    }

  /// A few overrides with a few effects, some of them with conditions.
  static func overrides(_ random: inout Seeded) -> [RuleOverride] {
    let targets: [[TargetPattern]] =
      [[], [.any]] + ["/**", "https://a.b/**?*", "**a*"].compactMap { (try? .glob($0)).map { [$0] } }
    return (0...random.below(3)).map { _ in
      RuleOverride(
        random.pick(targets), mediaTypes: random.oneIn(4) ? ["multipart/*"] : [],
        statuses: random.oneIn(4) ? [200, 304, 404] : [],
        effects: (0...random.below(3)).map { _ in random.pick(effects) })
    }
  }
}
