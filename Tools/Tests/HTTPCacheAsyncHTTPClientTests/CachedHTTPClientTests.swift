import AsyncHTTPClient
import Foundation
import HTTPCacheAsyncHTTPClient
import HTTPCacheTesting
import HTTPCaching
import Hummingbird
import NIOCore
import NIOHTTP1
import NIOSSL
import ServerTesting
import Testing

@Suite(.timeLimit(.minutes(10))) struct CachedHTTPClientTests {
  @Test("the second request is answered from the store, with the same head and body")
  func hit() async throws {
    let calls = Counter()
    let routes = Routes()
    routes.get("a") { _, _ in
      calls.increment()
      return answer("hello", [.cacheControl: "max-age=60", .contentType: "text/plain"])
    }
    try await CachedOrigin.run(routes) { origin async throws in
      let first = try await origin.get("/a?x=1")
      let second = try await origin.get("/a?x=1")
      #expect(first.body == "hello" && second.body == "hello")
      #expect(!first.response.cacheOutcome.isHit && second.response.cacheOutcome.isHit)
      #expect(second.response.status == .ok)
      #expect(second.response.headers.first(name: "content-type") == "text/plain")
      #expect(second.response.headers.first(name: "age") != nil)
      #expect(second.response.url?.absoluteString == origin.server.base + "/a?x=1")
      #expect(calls.value == 1)
    }
  }

  @Test(
    "a response for one account answers no other one, unless there is only one",
    arguments: ["Authorization", "Cookie"])
  func accounts(field: String) async throws {
    let calls = Counter()
    let routes = Routes()
    routes.get("me") { _, _ in
      calls.increment()
      return answer("\(calls.value)", [.cacheControl: "private, max-age=60"])
    }
    try await CachedOrigin.run(routes) { origin async throws in
      #expect(try await origin.get("/me", [field: "anna"]).body == "1")
      #expect(try await origin.get("/me", [field: "bert"]).body == "2")
      #expect(try await origin.get("/me").body == "3")
      #expect(try await origin.get("/me", [field: "anna"]).body == "1")
      #expect(try await origin.get("/me").body == "3")
      let client = CachedHTTPClient(
        cache: origin.cache, sharing: origin.client.upstream.client, hasOneAccount: true)
      for account in ["carl", "dora"] {
        let request = origin.request("/me?one", [field: account])
        let response = try await client.execute(request, timeout: .seconds(120))
        #expect(String(buffer: try await response.body.collect(upTo: 9)) == "4")
      }
      try await client.shutdown()
    }
  }

  @Test("get(url:) is the shortcut for that")
  func shortcut() async throws {
    let routes = Routes()
    routes.get("a") { _, _ in answer("hello") }
    try await CachedOrigin.run(routes) { origin async throws in
      let response = try await origin.client.get(url: origin.server.base + "/a")
      #expect(String(buffer: try await response.body.collect(upTo: 10)) == "hello")
      let again = try await origin.client.get(url: origin.server.base + "/a", cachePolicy: .cacheOnly)
      #expect(again.cacheOutcome.isHit)
    }
  }

  @Test("a GET with content is neither stored nor answered from the store (RFC 9110 §9.3.1)")
  func contentOfGet() async throws {
    let calls = Counter()
    let routes = Routes()
    routes.get("a") { _, _ in answer("\(calls.increment())", [.cacheControl: "max-age=60"]) }
    try await CachedOrigin.run(routes) { origin async throws in
      var request = origin.request("/a")
      request.body = .bytes(ByteBuffer(string: "x"))
      func text(_ request: HTTPClientRequest) async throws -> String {
        let response = try await origin.client.execute(request, timeout: .seconds(120))
        return String(buffer: try await response.body.collect(upTo: 10))
      }
      #expect(try await text(request) == "1")
      for _ in 0..<2 { #expect(try await text(origin.request("/a")) == "2") }
      #expect(try await text(request) == "3")
    }
  }

  @Test("the response in AsyncHTTPClient's type is the same response")
  func plainResponse() async throws {
    let routes = Routes()
    routes.get("a") { _, _ in answer("hello", status: .init(code: 203)) }
    try await CachedOrigin.run(routes) { origin async throws in
      let response: HTTPClientResponse = try await origin.client.execute(
        origin.request("/a"), timeout: .seconds(120)
      ).response
      #expect(response.status == .nonAuthoritativeInformation)
      #expect(String(buffer: try await response.body.collect(upTo: 10)) == "hello")
    }
  }

  @Test("a partition does not see what is stored for another")
  func partitions() async throws {
    let calls = Counter()
    let routes = Routes()
    routes.get("me") { _, _ in answer("\(calls.increment())") }
    try await CachedOrigin.run(routes) { origin async throws in
      #expect(try await origin.get("/me", partition: "anna").body == "1")
      #expect(try await origin.get("/me", partition: "bert").body == "2")
      #expect(try await origin.get("/me", partition: "anna").body == "1")
    }
  }

  @Test("an unsafe method invalidates")
  func invalidation() async throws {
    let calls = Counter()
    let routes = Routes()
    routes.get("a") { _, _ in answer("\(calls.increment())") }
    routes.put("a") { _, _ in Response(status: .noContent) }
    try await CachedOrigin.run(routes) { origin async throws in
      #expect(try await origin.get("/a").body == "1")
      var put = origin.request("/a")
      put.method = .PUT
      put.body = .bytes(ByteBuffer(string: "new"))
      _ = try await origin.client.execute(put, timeout: .seconds(120))
      #expect(try await origin.get("/a").body == "2")
    }
  }

  @Test("a policy reaches the engine: reload asks the origin and stores anew")
  func policy() async throws {
    let calls = Counter()
    let routes = Routes()
    routes.get("a") { _, _ in answer("\(calls.increment())") }
    try await CachedOrigin.run(routes) { origin async throws in
      #expect(try await origin.get("/a").body == "1")
      #expect(try await origin.get("/a", policy: .reload).body == "2")
      #expect(try await origin.get("/a").body == "2")
    }
  }

  @Test("a miss with the policy cacheOnly is an error, one with only-if-cached in the request a 504")
  func cacheOnly() async throws {
    try await CachedOrigin.run(Routes()) { origin async throws in
      await #expect(throws: CacheOnlyMiss.self) { try await origin.get("/a", policy: .cacheOnly) }
      let asked = try await origin.get("/a", ["Cache-Control": "only-if-cached"])
      #expect(asked.response.status == .gatewayTimeout)
    }
  }

  @Test("a request whose Host names another authority bypasses the cache, and keeps its Host")
  func hostOfItsOwn() async throws {
    let calls = Counter()
    let routes = Routes()
    routes.get("a") { request, _ in
      calls.increment()
      return answer(request.head.authority ?? "")
    }
    try await CachedOrigin.run(routes) { origin async throws in
      for _ in 0..<2 {
        let other = try await origin.get("/a", ["Host": "other.example"])
        #expect(other.body == "other.example")
        #expect(!other.response.cacheOutcome.isHit)
      }
      #expect(calls.value == 2)
      _ = try await origin.get("/a")
      #expect(try await origin.get("/a").response.cacheOutcome.isHit)
    }
  }

  @Test("a request with its own TLS configuration bypasses the cache")
  func ownTLS() async throws {
    let routes = Routes()
    routes.get("a") { _, _ in answer("a") }
    try await CachedOrigin.run(routes) { origin async throws in
      var request = origin.request("/a")
      request.tlsConfiguration = .makeClientConfiguration()
      for _ in 0..<2 {
        let response = try await origin.client.execute(request, timeout: .seconds(120))
        #expect(!response.cacheOutcome.isHit)
        _ = try await response.body.collect(upTo: 10)
      }
    }
  }

  @Test("AsyncHTTPClient refuses a URL that is not http")
  func noURL() async throws {
    try await CachedOrigin.run(Routes()) { origin async throws in
      await #expect(throws: HTTPClientError.self) {
        try await origin.client.get(url: "ftp://example.com/")
      }
      await #expect(throws: HTTPClientError.self) { try await origin.client.get(url: "nonsense") }
    }
  }
}
