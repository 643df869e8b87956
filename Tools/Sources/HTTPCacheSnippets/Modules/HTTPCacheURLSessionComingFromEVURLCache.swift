// The Swift of Sources/HTTPCacheURLSession/HTTPCacheURLSession.docc/ComingFromEVURLCache.md, written by scripts/snippets.py.
// swift-format-ignore-file

import Foundation
import HTTPCacheArchives
import HTTPCacheURLSession
import HTTPCaching

private func program1() async throws {
  let cache = try HTTPCache.open(.userCaches("com.example.app"))
  let session = CachedURLSession(cache: cache)
  let (data, response) = try await session.data(from: URL(string: "https://www.example.com/")!)
  print(data.count, "bytes,", response.cacheOutcome?.description ?? "")

  var rules = CacheRules()
  rules.overrides = [
    RuleOverride(
      try .host("api.example.com"),
      effects: [
        .cacheControl("max-age=604800", whenAbsent: true),
        .alias(HTTPField.Name("MobileAppCacheKey")!),
      ]),
    RuleOverride(try .glob("https://legacy.example.com/**"), effects: [.lowercasingPath]),
    RuleOverride(try .glob("/**/private/**"), effects: [.neverStore]),
  ]
  let configuration = HTTPCache.Configuration(
    directory: "cache", diskCapacity: 256 << 20, largestEntry: .bytes(16 << 20), rules: rules,
    observer: .printing)
  let tuned = try HTTPCache.open(configuration)

  let offline = CachedURLSession(cache: try .open(.userCaches("com.example.app", seeds: [.bundle("PreCache")])))
  let lowercased = try FolderSeed(bundled: "PreCache", options: .init(ignoresCase: true))

  let request = URLRequest(url: URL(string: "https://www.example.com/news")!)
  let (news, answer) = try await session.data(for: request)
  if case .hit(let age, _, .disconnected?) = answer.cacheOutcome {
    print("no connection; this is", age, "old")
  }
  print(news.count)

  if let file = try await session.file(for: request) {
    print(file.path)
  }
}
