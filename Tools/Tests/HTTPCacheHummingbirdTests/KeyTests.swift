import HTTPCacheHummingbird
import HTTPCacheTesting
import HTTPCaching
import Hummingbird
import NIOCore
import NIOHTTP1
import ServerTesting
import Testing

@Suite(.timeLimit(.minutes(10))) struct KeyTests {
  private let calls = Counter()

  private func run(
    origin: RequestOrigin = .host(), _ body: @escaping @Sendable (TestServer) async throws -> Void
  ) async throws {
    let app = CachedApp()
    try await app.run(CacheMiddleware(app.cache, origin: origin)) { [calls] in
      $0.get("a") { _, _ in answer("\(calls.increment())") }
    } _: {
      try await body($0)
    }
  }

  @Test("names in Host have responses of their own")
  func hosts() async throws {
    try await run { server async throws in
      #expect(try await server.send(.GET, "/a", ["Host": "one.example"]).body == "1")
      #expect(try await server.send(.GET, "/a", ["Host": "two.example"]).body == "2")
      #expect(try await server.send(.GET, "/a", ["Host": "one.example"]).body == "1")
    }
  }

  @Test("with a fixed origin, Host does not count")
  func fixed() async throws {
    try await run(origin: .fixed(scheme: "https", authority: "example.com")) { server async throws in
      #expect(try await server.send(.GET, "/a", ["Host": "one.example"]).body == "1")
      #expect(try await server.send(.GET, "/a", ["Host": "two.example"]).body == "1")
    }
  }

  @Test("behind a proxy that takes TLS off, its fields count")
  func forwarded() async throws {
    try await run(origin: .forwarded()) { server async throws in
      let fields = ["X-Forwarded-Proto": "https", "X-Forwarded-Host": "example.com, inner"]
      #expect(try await server.send(.GET, "/a", fields).body == "1")
      #expect(try await server.send(.GET, "/a", ["Host": "example.com"]).body == "2")
      #expect(try await server.send(.GET, "/a", fields).body == "1")
    }
  }

  @Test("an origin that cannot be a key passes the cache by")
  func noOrigin() async throws {
    try await run(origin: RequestOrigin { _ in (nil, nil) }) { server async throws in
      #expect(try await server.send(.GET, "/a").body == "1")
      let second = try await server.send(.GET, "/a")
      #expect(second.body == "2" && second["Cache-Status"] == nil)
    }
  }

  @Test("a request without Host is answered, and cached")
  func noHost() async throws {
    try await run { server async throws in
      for _ in 0..<2 {
        let client = try RawPeer.connect(server.port)
        client.send("GET /a HTTP/1.0\r\nConnection: close\r\n\r\n")
        let text = try await client.receiveAll()
        #expect(text.hasPrefix("HTTP/1.") && text.contains(" 200 OK\r\n") && text.hasSuffix("\r\n\r\n1"))
      }
    }
  }

  @Test("partitions do not see each other's responses, and nil passes the cache by")
  func partitions() async throws {
    let users: CacheMiddleware<Context>.Partition = { request, _ in
      let user = request.headers[.from]
      return user == "guest" ? nil : user ?? ""
    }
    let app = CachedApp()
    try await app.run(CacheMiddleware(app.cache, origin: .host(), partition: users)) { [calls] in
      $0.get("a") { _, _ in answer("\(calls.increment())") }
    } _: { server async throws in
      #expect(try await server.send(.GET, "/a", ["From": "anna"]).body == "1")
      #expect(try await server.send(.GET, "/a", ["From": "bert"]).body == "2")
      #expect(try await server.send(.GET, "/a", ["From": "anna"]).body == "1")
      #expect(try await server.send(.GET, "/a", ["From": "guest"]).body == "3")
      #expect(try await server.send(.GET, "/a", ["From": "guest"]).body == "4")
    }
  }

  @Test("an unsafe request that passes the cache by invalidates, in all partitions and groups too")
  func unsafeBypass() async throws {
    let users: CacheMiddleware<Context>.Partition = { request, _ in
      request.headers[.cookie] == nil ? request.headers[.from] ?? "" : nil
    }
    let (groups, invalidation) = (HTTPField.Name.cacheGroups, HTTPField.Name.cacheGroupInvalidation)
    let app = CachedApp()
    try await app.run(CacheMiddleware(app.cache, origin: .host(), partition: users)) { [calls] in
      $0.get("a") { _, _ in answer("\(calls.increment())") }
      $0.get("list") { _, _ in
        answer("\(calls.increment())", [.cacheControl: "max-age=60", groups: "\"articles\""])
      }
      $0.put("a") { request, _ in
        answer(
          String(buffer: try await request.body.collect(upTo: 100)), [invalidation: "\"articles\""])
      }
    } _: { server async throws in
      for body in ["1", "1"] { #expect(try await server.send(.GET, "/a").body == body) }
      #expect(try await server.send(.GET, "/a", ["From": "anna"]).body == "2")
      for body in ["3", "3"] { #expect(try await server.send(.GET, "/list").body == body) }
      #expect(try await server.send(.PUT, "/a", ["Cookie": "id=1"], body: "new").body == "new")
      #expect(try await server.send(.GET, "/a").body == "4")
      #expect(try await server.send(.GET, "/a", ["From": "anna"]).body == "5")
      #expect(try await server.send(.GET, "/list").body == "6")
    }
  }
}
