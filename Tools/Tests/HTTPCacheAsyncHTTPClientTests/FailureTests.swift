import AsyncHTTPClient
import HTTPCacheAsyncHTTPClient
import HTTPCacheTesting
import HTTPCaching
import Hummingbird
import NIOCore
import NIOHTTP1
import ServerTesting
import Testing

@Suite(.timeLimit(.minutes(10))) struct FailureTests {
  /// Routes of which `/slow` answers once the gate is open.
  private static func slow(_ gate: Gate) -> Routes {
    let routes = Routes()
    routes.get("slow") { _, _ in
      try await gate.pass()
      return answer("late")
    }
    return routes
  }

  @Test("an unreachable origin throws HTTPClient's error")
  func refused() async throws {
    let port = try UnusedPort()
    try await CachedOrigin.run(Routes()) { origin async throws in
      _ = await #expect(throws: IOError.self) { try await origin.client.get(url: port.base) }
    }
  }

  @Test("a request with more fields than a head of the cache has is sent without the cache")
  func manyFields() async throws {
    let port = try UnusedPort()
    try await CachedOrigin.run(Routes()) { origin async throws in
      var request = HTTPClientRequest(url: port.base)
      for _ in 0..<65_536 { request.headers.add(name: "X", value: "y") }
      _ = await #expect(throws: IOError.self) {
        try await origin.client.execute(request, deadline: .now() + .seconds(60))
      }
    }
  }

  @Test("a path that is no UTF-8 is refused: AsyncHTTPClient would ask for another one")
  func pathWithoutText() async throws {
    let routes = Routes()
    routes.get("/") { _, _ in answer("root", [.cacheControl: "max-age=60"]) }
    try await CachedOrigin.run(routes) { origin async throws in
      for path in ["/caf%E9", "/%83e?x", "/a%ff/b"] {
        _ = await #expect(throws: UpstreamError.self, "\(path)") { try await origin.get(path) }
      }
    }
  }

  @Test("if the origin is unreachable, a stale response answers, and its outcome says why (RFC 9111 §4.2.4)")
  func stale() async throws {
    let routes = Routes()
    routes.get("a") { _, _ in answer("old", [.cacheControl: "max-age=1"]) }
    let cache = try await CachedOrigin.run(routes) { origin async throws in
      _ = try await origin.get("/a")
      origin.clock.advance(by: .seconds(10))
      return (origin.cache, origin.server.base + "/a")
    }
    var configuration = HTTPClient.Configuration()
    configuration.connectionPool.retryConnectionEstablishment = false
    // The origin's own port may be another test's by now.
    let port = try UnusedPort()
    configuration.proxy = .server(host: "127.0.0.1", port: port.number)
    try await CachedHTTPClient.withClient(cache: cache.0, configuration: configuration) { client in
      let response = try await client.get(url: cache.1)
      #expect(String(buffer: try await response.body.collect(upTo: 10)) == "old")
      guard case .hit(_, _, .disconnected) = response.cacheOutcome else {
        Issue.record("\(response.cacheOutcome)")
        return
      }
    }
  }

  @Test("a deadline ends the wait for the origin")
  func deadline() async throws {
    let gate = Gate()
    let routes = Self.slow(gate)
    routes.get("first") { _, _ in answer("first") }
    try await CachedOrigin.run(routes) { origin async throws in
      // Makes the connection, which has an error of its own if the deadline passes before.
      _ = try await origin.get("/first")
      let error = await #expect(throws: HTTPClientError.self) {
        try await origin.client.execute(origin.request("/slow"), timeout: .milliseconds(50))
      }
      #expect(error == .deadlineExceeded)
      gate.open()
    }
  }

  @Test("a deadline ends the wait for another request's transfer as well")
  func deadlineOfFollower() async throws {
    let gate = Gate()
    try await CachedOrigin.run(Self.slow(gate)) { origin async throws in
      let leader = Task { try await origin.get("/slow").body }
      await gate.waitForArrivals(1)
      let error = await #expect(throws: HTTPClientError.self) {
        try await origin.client.execute(origin.request("/slow"), timeout: .milliseconds(50))
      }
      #expect(error == .deadlineExceeded)
      let follower = Task { try await origin.get("/slow").body }
      gate.open()
      #expect(try await leader.value == "late")
      #expect(try await follower.value == "late")
      #expect(gate.arrivals == 1)
    }
  }

  @Test("a cancelled task does not wait for the origin")
  func cancelled() async throws {
    let gate = Gate()
    try await CachedOrigin.run(Self.slow(gate)) { origin async throws in
      let waiting = Task { try await origin.get("/slow") }
      await gate.waitForArrivals(1)
      waiting.cancel()
      await #expect(throws: (any Error).self) { try await waiting.value }
      gate.open()
    }
  }

  @Test("after shutdown, a request that needs the origin fails")
  func shutdown() async throws {
    let routes = Routes()
    routes.get("a") { _, _ in answer("a") }
    try await TestServer.run(routes.buildResponder()) { origin async throws in
      let cache = try HTTPCache.open(HTTPCache.Configuration())
      let client = CachedHTTPClient(cache: cache)
      let first = try await client.get(url: origin.base + "/a")
      _ = try await first.body.collect(upTo: 10)
      try await client.shutdown()
      let error = await #expect(throws: HTTPClientError.self) {
        try await client.get(url: origin.base + "/b")
      }
      #expect(error == .alreadyShutdown)
      #expect(try await client.get(url: origin.base + "/a").cacheOutcome.isHit)
    }
  }
}
