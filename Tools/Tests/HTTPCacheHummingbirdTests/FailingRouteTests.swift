import HTTPCacheHummingbird
import HTTPCacheTesting
import HTTPCaching
import Hummingbird
import NIOHTTP1
import ServerTesting
import Testing

@Suite(.timeLimit(.minutes(10))) struct FailingRouteTests {
  private struct Odd: Error {}

  private let app = CachedApp()

  @Test(
    "what a route throws is answered as without the middleware, and not stored",
    arguments: [404, 418, 500, 503])
  func thrown(status: Int) async throws {
    let calls = Counter()
    let route: @Sendable (Request, Context) async throws -> Response = { _, _ in
      calls.increment()
      throw HTTPError(
        .init(code: status), headers: [.cacheControl: "max-age=60"], message: "no")
    }
    let router = Router(context: Context.self)
    router.group().add(middleware: CacheMiddleware(app.cache, origin: .host())).get("cached", use: route)
    router.get("plain", use: route)
    try await TestServer.run(router.buildResponder()) { server async throws in
      let plain = try await server.send(.GET, "/plain")
      for _ in 0..<2 {
        let cached = try await server.send(.GET, "/cached")
        #expect(cached.status == status && cached.body == plain.body && plain.body.contains("no"))
        #expect(cached["Cache-Status"] == nil && cached["Cache-Control"] == "max-age=60")
      }
      #expect(calls.value == 3)
    }
  }

  @Test("an error of another kind is a 500, as without the middleware")
  func odd() async throws {
    try await app.run {
      $0.get("a") { _, _ -> Response in throw Odd() }
    } _: { server async throws in
      #expect(try await server.send(.GET, "/a").status == 500)
    }
  }

  @Test("with stale-if-error, a stored response answers where the route throws or answers 5xx")
  func staleIfError() async throws {
    let calls = Counter()
    try await app.run {
      $0.get("a") { _, _ -> Response in
        switch calls.increment() {
        case 1: return answer("old", [.cacheControl: "max-age=1, stale-if-error=600"])
        case 2: throw HTTPError(.serviceUnavailable)
        case 3: throw Odd()
        case 4: return answer("", [:], status: .badGateway)
        default: throw HTTPError(.notFound)
        }
      }
    } _: { [clock = app.clock] server async throws in
      #expect(try await server.send(.GET, "/a").body == "old")
      clock.advance(by: .seconds(10))
      for _ in 0..<3 {
        let stale = try await server.send(.GET, "/a")
        #expect(stale.status == 200 && stale.body == "old" && stale["Age"] == "10")
      }
      // That it is not there is no failure.
      #expect(try await server.send(.GET, "/a").status == 404)
      #expect(calls.value == 5)
    }
  }

  @Test("a body that breaks off breaks the connection, and is not stored")
  func brokenBody() async throws {
    let calls = Counter()
    try await app.run {
      $0.get("a") { _, _ in
        let isFirst = calls.increment() == 1
        return Response(
          status: .ok, headers: [.cacheControl: "max-age=60"],
          body: ResponseBody { writer in
            try await writer.write(ByteBuffer(string: "half"))
            if isFirst { throw Odd() }
            try await writer.write(ByteBuffer(string: " whole"))
            try await writer.finish(nil)
          })
      }
    } _: { server async throws in
      await #expect(throws: (any Error).self) { try await server.send(.GET, "/a") }
      let whole = try await server.send(.GET, "/a")
      #expect(whole.body == "half whole")
      #expect(try await server.send(.GET, "/a").isHit)
    }
  }

  @Test("a body that is not as long as announced is not stored")
  func wrongLength() async throws {
    let calls = Counter()
    try await app.run {
      $0.get("a") { _, _ in
        calls.increment()
        return Response(
          status: .ok, headers: [.cacheControl: "max-age=60"],
          body: ResponseBody(contentLength: 10) { writer in
            try await writer.write(ByteBuffer(string: "short"))
            try await writer.finish(nil)
          })
      }
    } _: { server async throws in
      for _ in 0..<2 {
        await #expect(throws: (any Error).self) { try await server.send(.GET, "/a") }
      }
      #expect(calls.value == 2)
    }
  }
}
