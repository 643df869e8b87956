// The Swift of Sources/HTTPCacheHummingbird/HTTPCacheHummingbird.docc/GettingStarted.md, written by scripts/snippets.py.
// swift-format-ignore-file

import HTTPCacheHummingbird
import HTTPCaching
import Hummingbird

private func program1() async throws {
  let cache = try HTTPCache.open(
    HTTPCache.Configuration(rules: CacheRules(mode: .shared), cacheStatusName: "app"))

  let router = Router()
  router.group("articles")
    .add(middleware: CacheMiddleware(cache, origin: .fixed(scheme: "https", authority: "www.example.com")))
    .add(middleware: ETagMiddleware())
    .add(middleware: DefaultCacheControlMiddleware(.public, .maxAge(60)))
    .get(":id") { _, context in
      "article \(try context.parameters.require("id"))"
    }

  let app = Application(router: router, configuration: .init(address: .hostname("127.0.0.1", port: 8080)))
  try await app.runService()
}
