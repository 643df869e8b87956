// A server that caches its own answers, and those of an API that it calls: ServerExample PORT API-URL [FLEET]
// With the address of a Redis server, such as redis://127.0.0.1, all instances that name it compute each answer once.
import AsyncHTTPClient
import HTTPCacheAsyncHTTPClient
import HTTPCacheHummingbird
import HTTPCacheLogging
import HTTPCacheRedis
import HTTPCaching
import Hummingbird
import Logging

let arguments = CommandLine.arguments.dropFirst()
let port = arguments.first.flatMap { Int($0) } ?? 8080
let api = arguments.dropFirst().first ?? "https://api.example.com"
let client = CachedHTTPClient(cache: try .open(HTTPCache.Configuration(memoryCapacity: 64 << 20)))
var configuration = HTTPCache.Configuration(
  memoryCapacity: 256 << 20, rules: CacheRules(mode: .shared), cacheStatusName: "articles",
  observer: LoggingObserver(Logger(label: "cache")))
if let fleet = arguments.dropFirst(2).first {
  configuration.shared = try RedisTier(
    RedisTier.Configuration(address: RedisAddress(fleet), name: "articles"))
}
let cache = try HTTPCache.open(configuration)
await cache.join(within: .seconds(5))
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
await cache.finishBackgroundWork(within: .seconds(1))
await cache.close()
