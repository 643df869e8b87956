import HTTPCacheHummingbird
import HTTPCacheTesting
import HTTPCaching
import Hummingbird
import ServerTesting

typealias Context = BasicRequestContext

/// A shared cache with a clock that stands still, for the routes of a server.
struct CachedApp: Sendable {
  let clock = ManualClock(now: Timestamp(seconds: 1_800_000_000))
  let cache: HTTPCache

  init(mode: CacheMode = .shared, refusesSetCookie: Bool = false) {
    cache = HTTPCache(
      configuration: HTTPCache.Configuration(
        rules: CacheRules(mode: mode, refusesSetCookie: refusesSetCookie), cacheStatusName: "app",
        clock: clock),
      store: MemoryStore(capacity: 64 << 20, clock: clock))
  }

  /// Runs `body` with a server whose routes are behind a `CacheMiddleware`; nil is one that trusts `Host`.
  func run(
    _ middleware: CacheMiddleware<Context>? = nil, _ routes: (RouterGroup<Context>) -> Void,
    _ body: @escaping @Sendable (TestServer) async throws -> Void
  ) async throws {
    let router = Router(context: Context.self, options: [.autoGenerateHeadEndpoints])
    routes(router.group().add(middleware: middleware ?? CacheMiddleware(cache, origin: .host())))
    try await TestServer.run(router.buildResponder(), body)
  }
}
