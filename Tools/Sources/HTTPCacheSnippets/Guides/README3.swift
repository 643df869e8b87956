// The Swift of README.md, written by scripts/snippets.py.
// swift-format-ignore-file

import HTTPCacheHummingbird
import HTTPCaching
import Hummingbird

private func program1() async throws {
  let router = Router()
  let cache = try HTTPCache.open(HTTPCache.Configuration(rules: CacheRules(mode: .shared)))
  router.add(middleware: CacheMiddleware(cache, origin: .fixed(scheme: "https", authority: "www.example.com")))
  router.add(middleware: DefaultCacheControlMiddleware(.public, .maxAge(60)))
  router.get("articles/:id") { _, context in "Article \(context.parameters.get("id") ?? "")" }
}
