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
    .add(middleware: CacheMiddleware(cache, origin: .fixed(scheme: "https", authority: "www.example.com")))
    .add(middleware: ETagMiddleware())
    .add(middleware: DefaultCacheControlMiddleware(.public, .maxAge(60)))
    .get(":id") { _, context in
      "Article \(context.parameters.get("id") ?? "")"
    }

  router.group("start").add(
    middleware: CacheMiddleware(cache, origin: .fixed(scheme: "https", authority: "www.example.com")) { request, _ in
      request.headers[.cookie] == nil ? "" : nil
    })

  let site = RequestOrigin.fixed(scheme: "https", authority: "www.example.com")
  router.group("news").add(middleware: CacheMiddleware(cache, origin: site))
  router.group("blog").add(middleware: CacheMiddleware(cache, origin: .forwarded()))

  let service = CacheService<BasicRequestContext>(cache)
  router.group("wiki").add(middleware: CacheMiddleware(cache, origin: site, service: service))
  let responder = router.buildResponder()
  service.validate(through: responder)
  let application = Application(responder: responder, services: [service])
  print(application.configuration.address)

  router.put("news/:id") { request, _ in
    try await cache.invalidate(request, path: "/news", origin: site)
    return HTTPResponse.Status.noContent
  }

  router.group("tags").add(middleware: CacheMiddleware(cache, origin: site)).get(":tag") { _, context in
    let tag = context.parameters.get("tag", as: Int.self) ?? 0
    return Response(
      status: .ok, headers: [.cacheControl: "max-age=600", .cacheGroups: "\"articles\", \"tag-\(tag)\""])
  }
  router.delete("articles/:id") { _, _ in
    Response(status: .noContent, headers: [.cacheGroupInvalidation: "\"articles\""])
  }
  try await cache.invalidate(.group(origin: "https://www.example.com", name: "tag-7"))
}
