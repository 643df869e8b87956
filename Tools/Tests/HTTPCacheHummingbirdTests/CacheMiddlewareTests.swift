import HTTPCacheHummingbird
import HTTPCacheTesting
import HTTPCaching
import Hummingbird
import NIOHTTP1
import ServerTesting
import Testing

@Suite(.timeLimit(.minutes(10))) struct CacheMiddlewareTests {
  private let app = CachedApp()

  @Test("the second answer comes from the store, with Age and Cache-Status")
  func hit() async throws {
    let calls = Counter()
    try await app.run {
      $0.get("a") { _, _ in
        calls.increment()
        return answer("hello", [.cacheControl: "max-age=60", .contentType: "text/x"])
      }
    } _: { [clock = app.clock] server async throws in
      let first = try await server.send(.GET, "/a?q=1")
      clock.advance(by: .seconds(7))
      let second = try await server.send(.GET, "/a?q=1")
      #expect(first.body == "hello" && second.body == "hello")
      #expect(first["Cache-Status"] == "app; fwd=uri-miss; fwd-status=200; ttl=60; stored")
      #expect(second.isHit)
      #expect(second["Age"] == "7" && second["Content-Type"] == "text/x")
      #expect(second["Content-Length"] == "5")
      #expect(calls.value == 1)
      #expect(try await server.send(.GET, "/a?q=2").isHit == false)
    }
  }

  @Test("100 concurrent requests call a slow route once")
  func coalescing() async throws {
    let gate = Gate()
    let arrivals = Gate()
    arrivals.open()
    let router = Router(context: Context.self)
    router.add(middleware: Arrivals(gate: arrivals))
    router.add(middleware: CacheMiddleware(app.cache, origin: .host()))
    router.get("slow") { _, _ in
      try await gate.pass()
      return answer("computed once")
    }
    try await TestServer.run(router.buildResponder()) { server async throws in
      let bodies = try await withThrowingTaskGroup(of: String.self) { group in
        for _ in 0..<100 { group.addTask { try await server.send(.GET, "/slow").body } }
        await arrivals.waitForArrivals(100)
        gate.open()
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(bodies.count == 100 && bodies.allSatisfy { $0 == "computed once" })
      #expect(gate.arrivals == 1)
    }
  }

  @Test("conditions of a client are answered with 304, ranges with 206, HEAD from GET")
  func conditionsAndRanges() async throws {
    let calls = Counter()
    try await app.run {
      $0.get("a") { _, _ in
        calls.increment()
        return answer("0123456789", [.cacheControl: "max-age=60", .eTag: "\"t\""])
      }
    } _: { server async throws in
      _ = try await server.send(.GET, "/a")
      let same = try await server.send(.GET, "/a", ["If-None-Match": "\"t\""])
      #expect(same.status == 304 && same.body.isEmpty && same["ETag"] == "\"t\"")
      let part = try await server.send(.GET, "/a", ["Range": "bytes=2-4"])
      #expect(part.status == 206 && part.body == "234")
      #expect(part["Content-Range"] == "bytes 2-4/10" && part["Content-Length"] == "3")
      let head = try await server.send(.HEAD, "/a")
      #expect(head.status == 200 && head["Content-Length"] == "10" && head.body.isEmpty)
      // The connection is still in order after answers without content.
      #expect(try await server.send(.GET, "/a").body == "0123456789")
      #expect(calls.value == 1)
    }
  }

  @Test("a method that is not safe invalidates, and its content reaches the route")
  func invalidation() async throws {
    let calls = Counter()
    try await app.run { group in
      group.get("a") { _, _ in answer("\(calls.increment())") }
      group.put("a") { request, _ in
        answer(String(buffer: try await request.body.collect(upTo: 100)), [:])
      }
    } _: { server async throws in
      #expect(try await server.send(.GET, "/a").body == "1")
      #expect(try await server.send(.PUT, "/a", body: "new").body == "new")
      #expect(try await server.send(.GET, "/a").body == "2")
    }
  }

  @Test(
    "A response with Set-Cookie is stored with public, and never with the switch of the rules (RFC 9111 §7.3)"
  )
  func cookies() async throws {
    let calls = Counter()
    let route: @Sendable (Request, Context) async throws -> Response = { request, _ in
      let date = "Sun, 19 May 2002 14:49:00 GMT"
      var fields: HTTPFields = [.lastModified: date, .setCookie: "id=1"]
      if request.uri.path == "/a" { fields[.cacheControl] = "public, max-age=60" }
      return answer("\(calls.increment())", fields)
    }
    try await app.run {
      $0.get("a", use: route)
      $0.get("guessed", use: route)
    } _: { server async throws in
      let first = try await server.send(.GET, "/a")
      #expect(first.body == "1" && first["Set-Cookie"] == "id=1")
      let second = try await server.send(.GET, "/a")
      #expect(second.body == "1" && second["Set-Cookie"] == nil)
      for body in ["2", "3"] {
        let response = try await server.send(.GET, "/guessed")
        #expect(response.body == body && response["Set-Cookie"] == "id=1")
        #expect(response["Cache-Status"]?.contains("detail=set-cookie") == true)
      }
    }
    try await CachedApp(refusesSetCookie: true).run {
      $0.get("a", use: route)
    } _: { server async throws in
      for body in ["4", "5"] {
        let response = try await server.send(.GET, "/a")
        #expect(response.body == body)
        #expect(response["Cache-Control"] == "public, max-age=60" && response["Set-Cookie"] == "id=1")
      }
    }
  }

  @Test("a GET with content is neither stored nor answered from the store (RFC 9110 §9.3.1)")
  func contentOfGet() async throws {
    let calls = Counter()
    try await app.run {
      $0.get("a") { _, _ in answer("\(calls.increment())", [.cacheControl: "max-age=60"]) }
    } _: { server async throws in
      #expect(try await server.send(.GET, "/a", body: "x").body == "1")
      for _ in 0..<2 { #expect(try await server.send(.GET, "/a").body == "2") }
      #expect(try await server.send(.GET, "/a", body: "y").body == "3")
      #expect(try await server.send(.GET, "/a", ["Content-Length": "0"]).body == "2")
    }
  }

  @Test("a response that says private is not stored, even over a cache that was made private")
  func privateResponses() async throws {
    let calls = Counter()
    let app = CachedApp(mode: .private)
    try await app.run {
      $0.get("a") { _, _ in
        answer("\(calls.increment())", [.cacheControl: "private, max-age=60"])
      }
    } _: { server async throws in
      #expect(try await server.send(.GET, "/a").body == "1")
      #expect(try await server.send(.GET, "/a").body == "2")
    }
  }

  @Test("the content of a QUERY is part of the key and reaches the route")
  func query() async throws {
    let calls = Counter()
    try await app.run {
      $0.on("search", method: .init("QUERY")!) { request, _ in
        calls.increment()
        return answer(String(buffer: try await request.body.collect(upTo: 100)))
      }
    } _: { server async throws in
      let fields = ["Content-Type": "text/plain"]
      for _ in 0..<2 {
        #expect(try await server.send(.RAW(value: "QUERY"), "/search", fields, body: "a").body == "a")
        #expect(try await server.send(.RAW(value: "QUERY"), "/search", fields, body: "b").body == "b")
      }
      #expect(calls.value == 2)
    }
  }
}

/// Tells of each request before the cache sees it.
private struct Arrivals: RouterMiddleware {
  let gate: Gate

  func handle(
    _ request: Request, context: Context, next: (Request, Context) async throws -> Response
  ) async throws -> Response {
    try await gate.pass()
    return try await next(request, context)
  }
}
