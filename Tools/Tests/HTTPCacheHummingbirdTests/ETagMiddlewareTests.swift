import HTTPCacheHummingbird
import HTTPCacheTesting
import HTTPCaching
import Hummingbird
import NIOHTTP1
import ServerTesting
import Testing

@Suite(.timeLimit(.minutes(10))) struct ETagMiddlewareTests {
  private func run(
    limit: Int = 1 << 20, _ routes: (RouterGroup<Context>) -> Void,
    _ body: @escaping @Sendable (TestServer) async throws -> Void
  ) async throws {
    let router = Router(context: Context.self)
    routes(router.group().add(middleware: ETagMiddleware(limit: limit)))
    try await TestServer.run(router.buildResponder(), body)
  }

  @Test("a body gets a strong tag, which is another one for another body or type")
  func tags() async throws {
    try await run { group in
      group.get("a") { _, _ in answer("a", [.contentType: "text/x"]) }
      group.get("a2") { _, _ in answer("a", [.contentType: "text/x"]) }
      group.get("b") { _, _ in answer("b", [.contentType: "text/x"]) }
      group.get("c") { _, _ in answer("a", [.contentType: "text/y"]) }
    } _: { server async throws in
      let tag = try #require(try await server.send(.GET, "/a")["ETag"])
      #expect(tag.count == 34 && tag.hasPrefix("\"") && tag.hasSuffix("\""))
      #expect(try await server.send(.GET, "/a2")["ETag"] == tag)
      let others = [
        try await server.send(.GET, "/b")["ETag"], try await server.send(.GET, "/c")["ETag"],
      ]
      #expect(!others.contains(tag) && !others.contains(nil))
    }
  }

  @Test("a client that has the tag gets 304 without the fields that describe a body")
  func notModified() async throws {
    try await run {
      $0.get("a") { _, _ in
        answer("a", [.contentType: "text/x", .cacheControl: "max-age=9", .vary: "X"])
      }
    } _: { server async throws in
      let tag = try #require(try await server.send(.GET, "/a")["ETag"])
      for condition in [tag, "\"x\", W/\(tag)", "*"] {
        let same = try await server.send(.GET, "/a", ["If-None-Match": condition])
        #expect(same.status == 304 && same.body.isEmpty)
        #expect(same["ETag"] == tag && same["Cache-Control"] == "max-age=9" && same["Vary"] == "X")
        #expect(same["Content-Type"] == nil)
      }
      #expect(try await server.send(.GET, "/a", ["If-None-Match": "\"x\""]).body == "a")
    }
  }

  @Test("a tag of the route stays, and answers conditions too")
  func ownTag() async throws {
    try await run {
      $0.get("a") { _, _ in answer("a", [.eTag: "\"mine\""]) }
    } _: { server async throws in
      #expect(try await server.send(.GET, "/a")["ETag"] == "\"mine\"")
      #expect(try await server.send(.GET, "/a", ["If-None-Match": "\"mine\""]).status == 304)
    }
  }

  @Test("streams, long bodies, other methods, other statuses and no-store pass untouched")
  func untouched() async throws {
    try await run(limit: 10) { group in
      group.get("stream") { _, _ in
        Response(
          status: .ok,
          body: ResponseBody { writer in
            try await writer.write(ByteBuffer(string: "a"))
            try await writer.finish(nil)
          })
      }
      group.get("long") { _, _ in answer("0123456789a") }
      group.get("short") { _, _ in answer("0123456789") }
      group.post("post") { _, _ in answer("a") }
      group.get("created") { _, _ in answer("a", [:], status: .created) }
      group.get("secret") { _, _ in answer("a", [.cacheControl: "No-Store"]) }
      group.head("head") { _, _ in Response(status: .ok, headers: [.contentLength: "5"]) }
    } _: { server async throws in
      #expect(try await server.send(.GET, "/stream")["ETag"] == nil)
      #expect(try await server.send(.GET, "/long")["ETag"] == nil)
      #expect(try await server.send(.GET, "/short")["ETag"] != nil)
      #expect(try await server.send(.POST, "/post")["ETag"] == nil)
      #expect(try await server.send(.GET, "/created")["ETag"] == nil)
      #expect(try await server.send(.GET, "/secret")["ETag"] == nil)
      // A length without a body is not enough to make a tag.
      #expect(try await server.send(.HEAD, "/head")["ETag"] == nil)
    }
  }

  @Test("behind a CacheMiddleware, its tags let the cache validate stale responses")
  func behindCache() async throws {
    let app = CachedApp()
    let calls = Counter()
    try await app.run {
      $0.add(middleware: ETagMiddleware()).get("a") { _, _ in
        calls.increment()
        return answer("same", [.cacheControl: "max-age=1"])
      }
    } _: { server async throws in
      let first = try await server.send(.GET, "/a")
      app.clock.advance(by: .seconds(10))
      let second = try await server.send(.GET, "/a")
      #expect(second.status == 200 && second.body == "same" && second["ETag"] == first["ETag"])
      #expect(second["Cache-Status"]?.contains("fwd-status=304") == true)
      #expect(calls.value == 2)
    }
  }

  @Test("a default Cache-Control is for responses that have none, and makes them cacheable")
  func defaultCacheControl() async throws {
    let calls = Counter()
    try await CachedApp().run { group in
      let routes = group.add(middleware: DefaultCacheControlMiddleware(.public, .maxAge(60)))
      routes.get("a") { _, _ in answer("\(calls.increment())", [:]) }
      routes.get("own") { _, _ in answer("", [.cacheControl: "no-cache"]) }
      routes.get("expires") { _, _ in answer("", [.expires: "0"]) }
      // A default must not share one client's cookie with all clients (RFC 9111 §7.3).
      routes.get("session") { _, _ in answer("", [.setCookie: "sid=1"]) }
      routes.get("failed") { _, _ in answer("", [:], status: .badRequest) }
      routes.post("a") { _, _ in answer("", [:]) }
    } _: { server async throws in
      #expect(try await server.send(.GET, "/a")["Cache-Control"] == "public, max-age=60")
      #expect(try await server.send(.GET, "/a").body == "1")
      #expect(try await server.send(.GET, "/own")["Cache-Control"] == "no-cache")
      #expect(try await server.send(.GET, "/expires")["Cache-Control"] == nil)
      #expect(try await server.send(.GET, "/session")["Cache-Control"] == "private, max-age=60")
      #expect(try await server.send(.GET, "/failed")["Cache-Control"] == nil)
      #expect(try await server.send(.POST, "/a")["Cache-Control"] == nil)
    }
  }

  @Test(
    "a default Cache-Control does not share the answer to a request with credentials",
    arguments: ["Authorization", "Cookie"])
  func credentials(_ name: String) async throws {
    let calls = Counter()
    try await CachedApp().run { group in
      group.group("default").add(
        middleware: DefaultCacheControlMiddleware(.public, .maxAge(60))
      ).get("me") { _, _ in answer("\(calls.increment())", [:]) }
      group.group("none").add(middleware: DefaultCacheControlMiddleware(.noStore))
        .get("me") { _, _ in answer("", [:]) }
    } _: { server async throws in
      for number in 1...2 {
        let response = try await server.send(.GET, "/default/me", [name: "user=\(number)"])
        #expect(response.body == "\(number)")
        #expect(response["Cache-Control"] == "private, max-age=60")
      }
      #expect(try await server.send(.GET, "/none/me", [name: "user=1"])["Cache-Control"] == "no-store")
    }
  }
}
