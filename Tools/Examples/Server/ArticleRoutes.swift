import HTTPCacheHummingbird
import HTTPCacheLogging
import HTTPCaching
import Hummingbird
import Logging

/// Routes with slow answers, each computed once and then answered from a shared cache.
func articleRoutes() throws -> Router<BasicRequestContext> {
  let cache = try HTTPCache.open(
    HTTPCache.Configuration(
      memoryCapacity: 256 << 20, rules: CacheRules(mode: .shared), cacheStatusName: "articles",
      observer: LoggingObserver(Logger(label: "cache"))))
  let router = Router()
  router.group("articles")
    .add(middleware: CacheMiddleware(cache, origin: .fixed(scheme: "http", authority: "127.0.0.1")))
    .add(middleware: ETagMiddleware())
    .add(middleware: DefaultCacheControlMiddleware(.public, .maxAge(60)))
    .get(":id") { _, context in
      try await Task.sleep(for: .seconds(1))
      return "Article \(context.parameters.get("id") ?? "")"
    }
  return router
}
