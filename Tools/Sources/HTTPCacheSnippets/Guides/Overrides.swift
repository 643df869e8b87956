// The Swift of docs/overrides.md, written by scripts/snippets.py.
// swift-format-ignore-file

import HTTPCaching

private func program1() async throws {
  var rules = CacheRules()
  rules.overrides = [
    RuleOverride(try .host("*.cdn.example.com"), effects: [.droppingQuery(["X-Amz-*"])]),
    RuleOverride(try .glob("/api/**"), name: "api", effects: [.lifetime(.atMost(.seconds(60)))]),
  ]
  let cache = try HTTPCache.open(HTTPCache.Configuration(directory: "/var/cache/app", rules: rules))

  RuleOverride(
    try .host("bucket.s3.amazonaws.com"), effects: [.droppingQuery(["X-Amz-*"])])

  RuleOverride(effects: [.droppingQuery(["utm_*", "fbclid", "gclid"]), .sortingQuery])
  RuleOverride(try .glob("/article"), effects: [.keepingQuery(["id"])])
  RuleOverride(try .host("old.example.com"), effects: [.lowercasingPath, .ignoringQuery])

  RuleOverride(try .prefix("https://files.example.com/"), effects: [
    .cacheControl("max-age=3600, stale-if-error=86400", whenAbsent: true)
  ])

  RuleOverride(try .glob("/guide/**"), name: "guide", effects: [
    .ignoring([.noStore, .noCache, .mustRevalidate]), .lifetime(.atLeast(.seconds(3600))), .pin,
  ])

  RuleOverride(try .glob("/news/**"), effects: [.alias(HTTPField.Name("MobileAppCacheKey")!)])

  // Dangerous: all users may get a response that was meant for one user.
  RuleOverride(try .glob("/public/**"), effects: [
    .ignoring([.private]), .sharingDespite([.private]),
  ])
}
