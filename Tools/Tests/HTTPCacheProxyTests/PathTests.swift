import ServerTesting
import Testing

@testable import HTTPCacheProxy

@Suite("The path that the origin of a gateway is asked for", .timeLimit(.minutes(10))) struct PathTests {
  private func resolve(_ path: String, below base: String) throws -> String {
    let path = try GatewayPath.normalised(path)
    try GatewayPath.check(path, isBelow: !base.isEmpty)
    return base + path
  }

  @Test(
    "dot segments are resolved before the base path is added",
    arguments: [
      ("/../a", "/base/a"), ("/%2e%2e/a", "/base/a"), ("/b/.%2E/../../a", "/base/a"), ("/b/./a", "/base/b/a"),
      ("/..", "/base/"), ("/a..b/...", "/base/a..b/..."), ("/a?../b", "/base/a?../b"), ("//a", "/base//a"),
      ("/%61%7e%c3%a9?%7A", "/base/a~%C3%A9?z"), ("/%zz%2f", "/base/%zz%2F"),
    ])
  func resolved(_ path: String, _ expected: String) throws {
    #expect(try resolve(path, below: "/base") == expected)
  }

  @Test(
    "what some origins take for a dot segment is refused",
    arguments: [
      "/..%2fa", "/..%5Ca", "/..\\a", "/b%2f..", "/..;x/a", "/%2e%2e%2fa", "/a\\..\\..\\b", "/..%3B/a",
      "/..%3bx/a",
      "/..%00/a", "/..%20/a", "/..%09", "/..%23/a", "/..%3F/a", "/%252e%252e/a", "/..%252fa", "/b%255C..",
      "/%25252e%25252e/a", "/%c0%ae%c0%ae/a", "/..%c0%afa", "/..%ef%bc%8fa", "/..%u002fa", "/..::$DATA/a",
    ])
  func refused(_ path: String) {
    #expect(throws: Refusal.self) { try resolve(path, below: "/base") }
  }

  @Test("without a base path every path is allowed")
  func noBase() throws {
    #expect(try resolve("/a%2f..%2fb", below: "") == "/a%2F..%2Fb")
    #expect(try resolve("/../a", below: "") == "/a")
  }

  @Test("the origin of a gateway gets the resolved path")
  func asked() async throws {
    try await withProxy(basePath: "/base") { proxy in
      let head = try await proxy.miss("/x/../../%2e%2e/a")
      #expect(head.hasPrefix("GET /base/a HTTP/1.1\r\n"))
      #expect(try await proxy.hit("/..%2fa").hasPrefix("HTTP/1.1 400 "))
    }
  }

  @Test("two spellings that share a cache key are one request for the origin")
  func spelling() async throws {
    try await withProxy(cache: try memoryCache()) { proxy in
      let head = try await proxy.miss("/%61%7e?%7a", answer: "normal")
      #expect(head.hasPrefix("GET /a~?z HTTP/1.1\r\n"))
      #expect(try await proxy.hit("/a~?z").hasSuffix("normal"))
    }
  }

  @Test(
    "a forward proxy stores what differs in the letter case of escapes, and asks with the client's spelling",
    arguments: [
      ("/@s%2fn", "/@s%2Fn"), ("/caf%c3%a9", "/caf%C3%A9"), ("/a%3ab?q=%5b%5d", "/a%3Ab?q=%5B%5D"),
      ("/%7euser", "/~user"), ("/%7Euser?x=%2f", "/~user?x=%2F"), ("/%40s%2fn", "/%40s%2Fn"),
    ])
  func letterCase(_ path: String, _ normal: String) async throws {
    try await withProxy(forward: ForwardRules(), cache: try memoryCache()) { proxy in
      let host = "127.0.0.1:\(proxy.origin.port)"
      let head = try await proxy.miss("http://\(host)\(path)", host: host, answer: "stored")
      #expect(head.hasPrefix("GET \(path) HTTP/1.1\r\n"))
      for spelling in [path, normal, path] {
        let answer = try await proxy.hit("http://\(host)\(spelling)", host: host)
        #expect(answer.hasSuffix("stored") && field("Cache-Status", in: answer)?.contains("hit") == true)
      }
    }
  }

  @Test(
    "a forward proxy passes dot segments and other spellings on as they are, past the cache (RFC 9110 §7.7)",
    arguments: ["/x/../a", "/./a", "/x/%2e%2e/a", "/%2E/a", "/%61"])
  func forwardSpelling(_ path: String) async throws {
    try await withProxy(forward: ForwardRules(), cache: try memoryCache()) { proxy in
      let host = "127.0.0.1:\(proxy.origin.port)"
      let head = try await proxy.miss("http://\(host)\(path)", host: host, answer: "odd")
      #expect(head.hasPrefix("GET \(path) HTTP/1.1\r\n"))
      try await proxy.miss("http://\(host)/a", host: host, answer: "normal")
      #expect(try await proxy.hit("http://\(host)/a", host: host).hasSuffix("normal"))
    }
  }

  @Test("a redirect between two spellings of a key is not stored: it would answer the next request too")
  func redirectToSpelling() async throws {
    try await withProxy(forward: ForwardRules(), cache: try memoryCache()) { proxy in
      let host = "127.0.0.1:\(proxy.origin.port)"
      let (_, redirect) = try await proxy.exchange(
        "GET http://\(host)/%7eu HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n",
        "HTTP/1.1 301 Moved Permanently\r\nLocation: /~u\r\nCache-Control: max-age=60\r\n"
          + "Content-Length: 0\r\nConnection: close\r\n\r\n")
      #expect(redirect.hasPrefix("HTTP/1.1 301 "))
      try await proxy.miss("http://\(host)/~u", host: host, answer: "page")
      #expect(try await proxy.hit("http://\(host)/%7eu", host: host).hasSuffix("page"))
    }
  }
}
