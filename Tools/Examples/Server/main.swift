// A server that caches its own answers, and those of an API that it calls: ServerExample PORT API-URL
import AsyncHTTPClient
import HTTPCacheAsyncHTTPClient
import HTTPCacheHummingbird
import HTTPCacheLogging
import HTTPCaching
import Hummingbird
import Logging

let arguments = CommandLine.arguments.dropFirst()
let port = arguments.first.flatMap { Int($0) } ?? 8080
let api = arguments.dropFirst().first ?? "https://api.example.com"
let client = CachedHTTPClient(cache: try .open(HTTPCache.Configuration(memoryCapacity: 64 << 20)))
let cache = try HTTPCache.open(
  HTTPCache.Configuration(
    memoryCapacity: 256 << 20, rules: CacheRules(mode: .shared), cacheStatusName: "articles",
    observer: LoggingObserver(Logger(label: "cache"))))
let router = Router()
// Slow answers, each computed once and then answered from the shared cache.
router.group("articles")
  .add(middleware: CacheMiddleware(cache, origin: .fixed(scheme: "http", authority: "127.0.0.1")))
  .add(middleware: ETagMiddleware())
  .add(middleware: DefaultCacheControlMiddleware(.public, .maxAge(60)))
  .get(":id") { _, context in
    try await Task.sleep(for: .seconds(1))
    return "Article \(context.parameters.get("id") ?? "")"
  }
// The API's answers, each fetched once while it is fresh.
router.get("news") { _, _ in
  let news = try await client.get(url: api + "/news.json", timeout: .seconds(10))
  return Response(
    status: .ok, body: ResponseBody(byteBuffer: try await news.body.collect(upTo: 1 << 20)))
}
let app = Application(
  router: router, configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: port)),
  services: [client])
try await app.runService()
