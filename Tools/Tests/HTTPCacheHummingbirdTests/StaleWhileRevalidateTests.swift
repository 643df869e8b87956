import HTTPCacheHummingbird
import HTTPCacheTesting
import HTTPCaching
import Hummingbird
import NIOHTTP1
import ServerTesting
import Testing

@Suite(.timeLimit(.minutes(10))) struct StaleWhileRevalidateTests {
  private let fixture = Fixture()
  private let calls = Counter()

  private var route: @Sendable (Request, Context) async throws -> Response {
    { [calls] _, _ in
      answer("\(calls.increment())", [.cacheControl: "max-age=1, stale-while-revalidate=600"])
    }
  }

  @Test("the middleware, which cannot ask a route afterwards, validates first")
  func middleware() async throws {
    try await fixture.run {
      $0.get("a", use: route)
    } _: { [fixture] server async throws in
      #expect(try await server.send(.GET, "/a").body == "1")
      fixture.clock.advance(by: .seconds(10))
      #expect(try await server.send(.GET, "/a").body == "2")
      #expect(try await server.send(.GET, "/a").body == "2")
    }
  }

  @Test("the responder answers with a stale response and validates in the background")
  func responder() async throws {
    let router = Router(context: Context.self)
    router.get("a", use: route)
    let responder = CachingResponder(router.buildResponder(), cache: fixture.cache)
    try await TestServer.run(responder) { [fixture] server async throws in
      #expect(try await server.send(.GET, "/a").body == "1")
      fixture.clock.advance(by: .seconds(10))
      #expect(try await server.send(.GET, "/a").body == "1")
      await fixture.cache.finishBackgroundWork(within: .seconds(60))
      #expect(try await server.send(.GET, "/a").body == "2")
    }
  }
}
