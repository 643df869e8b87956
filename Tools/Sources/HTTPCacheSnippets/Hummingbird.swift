// The Swift of docs/hummingbird.md, written by scripts/snippets.py.
// swift-format-ignore-file

import HTTPCacheHummingbird
import HTTPCacheLogging
import HTTPCaching
import Hummingbird
import Logging

private func program1() async throws {
  let cache = try HTTPCache.open(
    HTTPCache.Configuration(
      memoryCapacity: 256 << 20, rules: CacheRules(mode: .shared), cacheStatusName: "articles",
      observer: LoggingObserver(Logger(label: "cache"))))
  let router = Router()
  router.group("articles")
    .add(middleware: CacheMiddleware(cache))
    .add(middleware: ETagMiddleware())
    .add(middleware: DefaultCacheControlMiddleware(.public, .maxAge(60)))
    .get(":id") { _, context in
      "Article \(context.parameters.get("id") ?? "")"
    }

  let perUser = ServerCacheOptions<BasicRequestContext> { request, _ in
    request.headers[.cookie] == nil ? "" : nil
  }
  router.group("start").add(middleware: CacheMiddleware(cache, options: perUser))

  let behindProxy = ServerCacheOptions<BasicRequestContext>(origin: .forwarded())
  let oneSite = ServerCacheOptions<BasicRequestContext>(
    origin: .fixed(scheme: "https", authority: "www.example.com"))
  router.group("news").add(middleware: CacheMiddleware(cache, options: oneSite))
  router.group("blog").add(middleware: CacheMiddleware(cache, options: behindProxy))

  let responder = CachingResponder(router.buildResponder(), cache: cache)
  let application = Application(responder: responder)
  print(application.configuration.address)
}
