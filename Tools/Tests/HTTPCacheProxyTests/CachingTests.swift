import HTTPCaching
import NIOCore
import ServerTesting
import Testing

@testable import HTTPCacheProxy

@Suite("The proxy with a cache that keeps something", .timeLimit(.minutes(10))) struct CachingTests {
  /// The tiers a test runs over.
  enum Tier: CaseIterable, Sendable {
    case memory
    case disk
  }

  private let get = "GET /a HTTP/1.1\r\nHost: h\r\n\r\n"

  /// Runs a test over a cache of a tier.
  private func withCache(_ tier: Tier, _ body: (RunningProxy) async throws -> Void) async throws {
    let directory = try ScratchFolder()
    let cache = try HTTPCache.open(
      HTTPCache.Configuration(
        directory: tier == .disk ? directory.path : nil, memoryCapacity: tier == .disk ? 0 : 64 << 20,
        rules: CacheRules(mode: .shared), cacheStatusName: "httpcache"))
    try await withProxy(cache: cache, body)
  }

  private static func text(_ size: Int) -> String {
    String(decoding: (0..<size).map { UInt8(truncatingIfNeeded: 65 + ($0 / 7) % 26) }, as: UTF8.self)
  }

  @Test(
    "what was stored is served again, byte for byte, without the origin", arguments: Tier.allCases,
    [0, 10, 1000, 100_000, 1_500_000])
  func hit(_ tier: Tier, _ size: Int) async throws {
    try await withCache(tier) { proxy in
      let content = Self.text(size)
      let (client, peer, _) = try await proxy.open(get)
      peer.send(
        "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nX-Test: \u{E9}\r\nContent-Length: \(size)\r\n\r\n")
      await peer.send(Array(content.utf8))
      let miss = try await client.receiveHead()
      #expect(field("Cache-Status", in: miss)?.hasPrefix("httpcache; fwd=") == true)
      #expect(try await client.receive(count: size) == content)
      for _ in 1...2 {
        client.send(get)
        let hit = try await client.receiveHead()
        #expect(hit.hasPrefix("HTTP/1.1 200 "))
        #expect(field("Cache-Status", in: hit)?.hasPrefix("httpcache; hit") == true)
        #expect(field("Age", in: hit) != nil)
        #expect(field("X-Test", in: hit) == "\u{E9}")
        #expect(field("Content-Length", in: hit) == "\(size)")
        #expect(field("Via", in: hit)?.hasPrefix("1.1 httpcache-") == true)
        #expect(try await client.receive(count: size) == content)
      }
      #expect(try await proxy.origin.acceptIfAny() == nil)
    }
  }

  @Test("a range of a stored body is served from it", arguments: Tier.allCases)
  func range(_ tier: Tier) async throws {
    try await withCache(tier) { proxy in
      let content = Self.text(300_000)
      let (client, peer, _) = try await proxy.open(get)
      peer.send(
        "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nETag: \"a\"\r\nContent-Length: 300000\r\n\r\n")
      await peer.send(Array(content.utf8))
      _ = try await client.receiveHead()
      _ = try await client.receive(count: 300_000)
      client.send("GET /a HTTP/1.1\r\nHost: h\r\nRange: bytes=1000-250999\r\n\r\n")
      let head = try await client.receiveHead()
      #expect(head.hasPrefix("HTTP/1.1 206 "))
      #expect(try await client.receive(count: 250_000) == content.dropFirst(1000).prefix(250_000))
      client.send("HEAD /a HTTP/1.1\r\nHost: h\r\n\r\n")
      #expect(field("Content-Length", in: try await client.receiveHead()) == "300000")
      client.send("GET /a HTTP/1.1\r\nHost: h\r\nIf-None-Match: \"a\"\r\n\r\n")
      #expect(try await client.receiveHead().hasPrefix("HTTP/1.1 304 "))
      #expect(try await proxy.origin.acceptIfAny() == nil)
    }
  }

  @Test("only-if-cached without a stored response: 504 with the reason, over both versions of HTTP")
  func onlyIfCached() async throws {
    try await withHTTP2(cache: memoryCache()) { proxy in
      let text =
        "504 Gateway Timeout: asking the origin is forbidden, and nothing stored (RFC 9111 §5.2.1.7)\n"
      let answer = try await proxy.hit("/a", fields: "Cache-Control: only-if-cached\r\n")
      // The section sign has two bytes, which the test's client reads as two characters.
      #expect(answer.hasPrefix("HTTP/1.1 504 "))
      #expect(
        answer.contains("\r\n\r\n504 Gateway Timeout: asking the origin is forbidden, and nothing stored"))
      #expect(field("Content-Length", in: answer) == "\(text.utf8.count)")
      let client = try HTTP2Peer(proxy.port)
      client.request(1, "/a", [("cache-control", "only-if-cached")])
      let response = try await client.response(1)
      #expect(response.status == "504" && response.text == text)
      #expect(response["content-type"] == "text/plain; charset=utf-8")
    }
  }

  static let broken = [
    "Content-Length: 10\r\n\r\nabc",
    "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
    "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nx\r\n",
    "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
    "Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
    "X: a\r\n b\r\nContent-Length: 3\r\n\r\nabc",
  ]

  @Test("an answer that breaks the protocol is never served again", arguments: broken)
  func neverStored(_ rest: String) async throws {
    try await withCache(.memory) { proxy in
      let (first, peer, _) = try await proxy.open("GET /a HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
      peer.send("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\n\(rest)")
      peer.end()
      // A request during the transfer shares it; after the transfer nothing is stored.
      _ = try await first.receiveAll()
      let (second, again, _) = try await proxy.open(get)
      again.send("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 5\r\n\r\nwhole")
      #expect(try await second.receiveHead().hasPrefix("HTTP/1.1 200 "))
      #expect(try await second.receive(count: 5) == "whole")
    }
  }

  // holds 9111-5.2.2.2-3, 9111-5.2.2.2-4
  @Test(
    "what must be validated is not served while the origin says nothing: 504 (RFC 9111 §5.2.2.2)",
    arguments: ["must-revalidate", "proxy-revalidate", "s-maxage=0"])
  func mustRevalidate(_ directive: String) async throws {
    let cache = try memoryCache()
    try await withProxy(cache: cache) { proxy in
      let (client, peer, _) = try await proxy.open(get)
      peer.send(
        "HTTP/1.1 200 OK\r\nCache-Control: max-age=0, \(directive)\r\nETag: \"a\"\r\nConnection: close\r\nContent-Length: 3\r\n\r\nold"
      )
      _ = try await client.receiveHead()
      #expect(try await client.receive(count: 3) == "old")
      // Another proxy with the same cache, so that the first answer has all the time that it takes.
      let origin = Origin(isSecure: false, host: "127.0.0.1", port: proxy.origin.port)
      try await withRisingLimits { limit in
        var validation: String?
        try await withProxy(
          upstream: .with { $0.headTimeout = limit }, cache: cache,
          configure: { $0.mode = .reverse(origin, basePath: "") }
        ) { impatient in
          #expect(try await impatient.connect(sending: get).receiveHead().hasPrefix("HTTP/1.1 504 "))
          validation = try await proxy.origin.acceptIfAny()?.receiveAll()
        }
        guard let validation, !validation.isEmpty else { return false }
        #expect(field("If-None-Match", in: validation) == "\"a\"")
        return true
      }
    }
  }

  @Test(
    "a GET with content is neither stored nor answered from the store (RFC 9110 §9.3.1)",
    arguments: ["Content-Length: 1\r\n\r\nx", "Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n"])
  func contentOfGet(_ rest: String) async throws {
    try await withCache(.memory) { proxy in
      func answer(_ text: String, to request: String) async throws -> String {
        let (client, peer, _) = try await proxy.open(request)
        peer.send(
          "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nConnection: close\r\nContent-Length: 3\r\n\r\n\(text)"
        )
        _ = try await client.receiveHead()
        return try await client.receive(count: 3)
      }
      let withContent = "GET /a HTTP/1.1\r\nHost: h\r\n" + rest
      #expect(try await answer("one", to: withContent) == "one")
      #expect(try await answer("two", to: get) == "two")
      #expect(try await answer("tri", to: withContent) == "tri")
      let client = try proxy.connect(sending: "GET /a HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n")
      _ = try await client.receiveHead()
      #expect(try await client.receive(count: 3) == "two")
    }
  }

  @Test("Connection hides no restriction: Cache-Control counts and is passed on (RFC 9110 §7.6.1)")
  func connectionOption() async throws {
    try await withCache(.memory) { proxy in
      for text in ["one", "two"] {
        let (client, peer, _) = try await proxy.open(get)
        peer.send(
          "HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nLast-Modified: Sun, 19 May 2002 14:49:00 GMT\r\n"
            + "Connection: close, cache-control\r\nContent-Length: 3\r\n\r\n\(text)")
        #expect(field("Cache-Control", in: try await client.receiveHead()) == "no-store")
        #expect(try await client.receive(count: 3) == text)
      }
    }
  }

  @Test("one fetch answers many clients that ask at once")
  func collapsed() async throws {
    try await withCache(.memory) { proxy in
      let clients = try (0..<10).map { _ in try proxy.connect() }
      for client in clients { client.send(get) }
      let (peer, _) = try await proxy.origin.acceptRequest()
      // A follower gets its head with the first bytes of the body.
      peer.send("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 5\r\n\r\nhe")
      for client in clients { #expect(try await client.receiveHead().hasPrefix("HTTP/1.1 200 ")) }
      peer.send("llo")
      for client in clients { #expect(try await client.receive(count: 5) == "hello") }
      #expect(try await proxy.origin.acceptIfAny() == nil)
    }
  }
}
