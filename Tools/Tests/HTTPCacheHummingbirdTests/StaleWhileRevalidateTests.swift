import HTTPCacheHummingbird
import HTTPCacheTesting
import HTTPCaching
import Hummingbird
import Logging
import NIOHTTP1
import ServerTesting
import ServiceLifecycle
import Testing

@Suite(.timeLimit(.minutes(10))) struct StaleWhileRevalidateTests {
  private let app = CachedApp()
  private let calls = Counter()

  private var route: @Sendable (Request, Context) async throws -> Response {
    { [calls] _, _ in
      answer("\(calls.increment())", [.cacheControl: "max-age=1, stale-while-revalidate=600"])
    }
  }

  @Test("the middleware, which cannot ask a route afterwards, validates first")
  func middleware() async throws {
    try await app.run {
      $0.get("a", use: route)
    } _: { [app] server async throws in
      #expect(try await server.send(.GET, "/a").body == "1")
      app.clock.advance(by: .seconds(10))
      #expect(try await server.send(.GET, "/a").body == "2")
      #expect(try await server.send(.GET, "/a").body == "2")
    }
  }

  @Test(
    "the middleware with a service answers with a stale response and validates in the background",
    arguments: [CacheMode.shared, .private])
  func service(mode: CacheMode) async throws {
    let app = CachedApp(mode: mode)
    let service = CacheService<Context>(app.cache)
    let seen = Counter()
    let router = Router(context: Context.self)
    router.add(middleware: CountingMiddleware(counter: seen))
    router.add(middleware: CacheMiddleware(app.cache, origin: .host(), service: service))
    router.get("a", use: route)
    let responder = router.buildResponder()
    try await TestServer.run(responder) { server async throws in
      #expect(try await server.send(.GET, "/a").body == "1")
      app.clock.advance(by: .seconds(10))
      // The service has no responder yet.
      #expect(try await server.send(.GET, "/a").body == "2")
      service.validate(through: responder)
      app.clock.advance(by: .seconds(10))
      #expect(try await server.send(.GET, "/a").body == "2")
      await app.cache.finishBackgroundWork(within: .seconds(60))
      #expect(try await server.send(.GET, "/a").body == "3")
      #expect(seen.value == 5, "four requests and one validation")
    }
  }

  @Test("a service that shuts down waits for its validations, and closes the cache")
  func shutDown() async throws {
    let (clock, stored, gate) = (app.clock, Counter(), Gate())
    let cache = HTTPCache(
      configuration: HTTPCache.Configuration(
        rules: CacheRules(mode: .shared), observer: StoredObserver(counter: stored), clock: clock),
      store: MemoryStore(capacity: 64 << 20, clock: clock))
    let service = CacheService<Context>(cache, finishingWithin: .seconds(3600))
    let router = Router(context: Context.self)
    router.add(middleware: CacheMiddleware(cache, origin: .host(), service: service))
    router.get("a") { [calls] _, _ in
      let call = calls.increment()
      if call == 2 { try await gate.pass() }
      return answer("\(call)", [.cacheControl: "max-age=1, stale-while-revalidate=600"])
    }
    let responder = router.buildResponder()
    service.validate(through: responder)
    let group = ServiceGroup(services: [service], logger: Logger(label: "test"))
    let running = Task { try await group.run() }
    try await TestServer.run(responder) { server async throws in
      #expect(try await server.send(.GET, "/a").body == "1")
      clock.advance(by: .seconds(10))
      #expect(try await server.send(.GET, "/a").body == "1")
      await gate.waitForArrivals(1)
      await group.triggerGracefulShutdown()
      gate.open()
      try await running.value
      #expect(stored.value == 2, "the validation ended before the cache closed")
      // A closed cache stores nothing, so each request calls the route.
      #expect(try await server.send(.GET, "/a").body == "3")
      #expect(try await server.send(.GET, "/a").body == "4")
    }
  }
}

/// Counts the requests that pass.
private struct CountingMiddleware: RouterMiddleware {
  let counter: Counter

  func handle(
    _ request: Request, context: Context, next: (Request, Context) async throws -> Response
  ) async throws -> Response {
    counter.increment()
    return try await next(request, context)
  }
}

/// Counts the responses that are stored.
private struct StoredObserver: CacheObserver {
  let counter: Counter

  func observe(_ event: CacheEvent) { if case .stored = event { counter.increment() } }
}
