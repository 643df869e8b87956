import Foundation
import HTTPCacheSemantics
import HTTPCacheTesting
import HTTPCaching
import NIOCore
import ServerTesting
import Synchronization
import Testing

@testable import HTTPCacheProxy

@Suite("Answers prepared on the event loop", .timeLimit(.minutes(10)))
struct HitPathTests {
  /// A proxy with prepared answers and one without, over one cache and one origin.
  private struct Pair {
    let clock: ManualClock
    let cache: HTTPCache
    let fast: RunningProxy
    let general: RunningProxy
  }

  private static let life =
    "HTTP/1.1 200 OK\r\nConnection: close\r\nCache-Control: max-age=100000\r\nDate: Tue, 14 Nov 2023 22:13:20 GMT\r\n"

  /// The answer of the origin while the cache is filled.
  private static func storable(_ head: String) -> String {
    let target = head.split(separator: " ")[1]
    switch target {
    case "/vary":
      let body = field("Accept-Encoding", in: head) ?? "plain"
      return life + "Vary: Accept-Encoding\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
    case "/cookie":
      return life + "Vary: Cookie\r\nContent-Length: 3\r\n\r\n" + (field("Cookie", in: head) ?? "non")
    case "/x-vary":
      return life + "Vary: X-Other\r\nContent-Length: 3\r\n\r\n" + (field("X-Other", in: head) ?? "non")
    case "/empty": return life + "Content-Length: 0\r\n\r\n"
    case "/gone":
      return life.replacing("200 OK", with: "404 Not There") + "Content-Length: 4\r\n\r\ngone"
    case "/large": return life + "Content-Length: 70000\r\n\r\n" + String(repeating: "l", count: 70_000)
    default:
      return life + "ETag: \"t\"\r\nX-Hop: 1\r\nContent-Length: \(target.utf8.count)\r\n\r\n\(target)"
    }
  }

  private func withPair(
    trusting trusted: [AddressRange] = [], _ body: (Pair) async throws -> Void
  ) async throws {
    let clock = ManualClock(now: Timestamp(seconds: 1_700_000_000))
    let cache = try HTTPCache.open(
      HTTPCache.Configuration(
        memoryCapacity: 8 << 20, rules: CacheRules(mode: .shared), cacheStatusName: "httpcache", clock: clock)
    )
    let origin = try RawOrigin()
    let isFilling = Mutex(true)
    let answering = Task {
      while !Task.isCancelled {
        guard let peer = try await origin.acceptIfAny(within: 100) else { continue }
        let head = try await peer.receiveHead()
        peer.send(
          isFilling.withLock { $0 }
            ? Self.storable(head)
            : "HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nConnection: close\r\nContent-Length: 3\r\n\r\nnew"
        )
        peer.finish()
      }
    }
    defer { answering.cancel() }
    try await withProxy(
      cache: cache, origin: origin,
      configure: {
        $0.isHTTP2WithoutTLS = true; $0.trustedForwarders = trusted
      }
    ) {
      fast in
      let configure = { (configuration: inout ProxyServer.Configuration) in
        configuration.isHTTP2WithoutTLS = true
        configuration.trustedForwarders = trusted
        configuration.preparedAnswers = 0
      }
      try await withProxy(cache: cache, origin: origin, configure: configure) { general in
        for target in Self.targets { _ = try await general.hit(target) }
        _ = try await general.hit("/vary", fields: "Accept-Encoding: gzip\r\n")
        _ = try await general.hit("/cookie", fields: "Cookie: a=b\r\n")
        _ = try await general.hit("/x-vary", fields: "X-Other: two\r\n")
        isFilling.withLock { $0 = false }
        clock.advance(by: .seconds(1))
        try await body(Pair(clock: clock, cache: cache, fast: fast, general: general))
      }
    }
  }

  private func answer(_ client: RawPeer, _ request: String) async throws -> String {
    client.send(request)
    let head = try await client.receiveHead()
    guard !request.hasPrefix("HEAD"), let length = field("Content-Length", in: head).flatMap({ Int($0) }),
      !head.hasPrefix("HTTP/1.1 304")
    else { return head }
    return head + (try await client.receive(count: length))
  }

  /// The answer without the random parts of the proxy's name and of a boundary.
  private func comparable(_ answer: String) -> String {
    // A search in all of a long body would take longer than the request.
    let head = answer.prefix(2_000)
    return String(head.replacing(/(httpcache|http-cache)-[0-9a-z]+/, with: "httpcache-x"))
      + answer.dropFirst(head.count)
  }

  private static let targets = [
    "/a", "/a?b", "/vary", "/cookie", "/x-vary", "/large", "/empty", "/%61", "/tag", "/gone",
  ]
  /// Absolute forms, which HTTP/2 does not have.
  private static let urls = [
    "http://h/a", "http://h/vary", "http://h/tag", "http://h", "http://h/a#b", "http://other/a", "http:///a",
  ]
  private static let fields = [
    "User-Agent: a", "User-Agent: b", "Accept: */*", "Accept-Encoding: gzip", "accept-encoding: br",
    "Accept-Language: de", "Cookie: a=b", "Range: bytes=0-3", "Range: bytes=1-",
    "Range: bytes=90000-", "Range: bytes=0-0,2-2", "Range: bytes=0-1,-1", "Range: items=1",
    "If-Range: \"t\"", "If-Range: \"other\"",
    "If-None-Match: \"t\"", "If-None-Match: *", "If-None-Match: \"other\"", "Authorization: Basic eDp5",
    "Cache-Control: only-if-cached", "Cache-Control: max-stale", "Cache-Control: no-transform", "Pragma: x",
    // No directive asks the origin: its answer changes what the second of two requests finds.
    "Cache-Control: max-age=90000", "Keep-Alive: 5", "Trailer: x", "True-Client-IP: 1",
    "Connection: keep-alive", "Connection: Keep-Alive", "DNT: 1",
    "Origin: http://o",
    "Referer: http://h/x", "X-Other: 1", "X-Other: two", "X_Other: two", "X-HTTP-Method-Override: PUT",
    "Sec-Fetch-Mode: cors", "Accept:", "Host: h", "Content-Length: 0",
    "Accept: text/html\tx", "Via: 1.1 other", "X-Forwarded-For: 192.0.2.1", "Priority: u=1",
    "X-Request-ID: 1", "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "X-Real-IP: x",
    "X-Forwarded-Host: other", "X-Forwarded-Host: h", "X-Forwarded-Proto: https", "X-Forwarded-Proto: http",
    "Forwarded: host=h;proto=http", "Forwarded: host=other", "X.Forwarded.Host: x", "X-Forwarded: x",
    "X-Forwarded-Port: 1", "Connection: TE", "Connection: keep-alive, TE", "Connection: close", "TE: gzip",
    "Proxy-Connection: close", "X-Correlation-ID: 2", "Baggage: a=b",
    "If-Modified-Since: Tue, 14 Nov 2023 22:13:20 GMT", "If-Modified-Since: Tue, 14 Nov 2023 22:13:19 GMT",
    "TE: trailers", "User-Agent: a\u{1}b", "Bad Name: 1", "Expect: 100-continue", "Upgrade: h2c",
    "Connection: x", "Connection: Upgrade", "Proxy-Authorization: Basic x", "HTTP2-Settings: AAMAAABk",
  ]

  private static func request(_ random: inout some RandomNumberGenerator) -> String {
    var request = Int.random(in: 0..<6, using: &random) == 0 ? "HEAD " : "GET "
    request += (targets + urls).randomElement(using: &random) ?? "/a"
    request += " HTTP/1.1\r\nHost: h\r\n"
    for _ in 0..<Int.random(in: 0..<4, using: &random) {
      request += (fields.randomElement(using: &random) ?? "DNT: 1") + "\r\n"
    }
    return request + "\r\n"
  }

  /// The environment may ask for a million requests.
  private static let count =
    ProcessInfo.processInfo.environment["HTTPCACHE_COMPARED_REQUESTS"].flatMap { Int($0) } ?? 1_500

  private static let trusted: [[String]] = [[], ["127.0.0.0/8"]]

  @Test("have the bytes of the slow path, for generated requests", arguments: trusted)
  func differential(trusted: [String]) async throws {
    try await withPair(trusting: trusted.compactMap { AddressRange($0) }) { pair in
      var random = SystemRandomNumberGenerator()
      var (fast, general) = (try pair.fast.connect(), try pair.general.connect())
      for number in 0..<Self.count {
        if number % 50 == 0 { pair.clock.advance(by: .seconds(1)) }
        let request = Self.request(&random)
        let first = try await answer(fast, request)
        let second = try await answer(general, request)
        // A response that the proxy makes itself has the time of the system.
        let isMade = first.hasPrefix("HTTP/1.1 400")
        guard isMade || comparable(first) == comparable(second) else {
          Issue.record(
            "\(request.debugDescription): \(first.debugDescription), not \(second.debugDescription)")
          return
        }
        #expect(first.prefix(12) == second.prefix(12))
        if field("Connection", in: first) == "close" {
          (fast, general) = (try pair.fast.connect(), try pair.general.connect())
        }
      }
    }
  }

  @Test(
    "RFC 9112 §9.6: a connection ends after the answer to a request that says so; what follows is no request")
  func lastRequest() async throws {
    try await withPair(trusting: []) { pair in
      for proxy in [pair.fast, pair.general] {
        let client = try proxy.connect()
        client.send(
          "GET /a HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n" + "GET /a HTTP/1.1\r\nHost: h\r\n\r\n")
        let received = try await client.receiveAll()
        #expect(received.hasPrefix("HTTP/1.1 200"))
        #expect(received.components(separatedBy: "HTTP/1.1 200").count == 2)
        client.end()
        try await eventually { proxy.server.connectionCount == 0 }
      }
    }
  }

  private struct HTTP2Request {
    let target: String
    let method: String
    let fields: [(String, String)]
  }

  private static func http2Fields(_ random: inout some RandomNumberGenerator) -> [(String, String)] {
    (0..<Int.random(in: 0..<4, using: &random)).compactMap { _ in
      guard let line = fields.randomElement(using: &random), let colon = line.firstIndex(of: ":") else {
        return nil
      }
      let value = line[line.index(after: colon)...].trimmingPrefix(" ")
      return (line[..<colon].lowercased(), String(value))
    }
  }

  /// The answer over HTTP/2; without one if the connection ended.
  private func answer(_ client: HTTP2Peer, _ stream: UInt32, _ request: HTTP2Request) async throws -> String {
    client.request(stream, request.target, method: request.method, request.fields)
    if request.target == "/large" { client.widen(stream, by: 70_000) }
    guard var response = try? await client.response(stream) else { return "" }
    if !response.body.isEmpty { client.widen(0, by: response.body.count) }
    // Printing a large body as a list of numbers takes longer than the request.
    let body = response.text
    response.body = []
    return comparable("\(response)") + comparable(body)
  }

  @Test("have the fields and bytes of the slow path over HTTP/2", arguments: trusted)
  func http2(trusted: [String]) async throws {
    try await withPair(trusting: trusted.compactMap { AddressRange($0) }) { pair in
      var random = SystemRandomNumberGenerator()
      func connect() throws -> [HTTP2Peer] {
        let clients = [try HTTP2Peer(pair.fast.port), try HTTP2Peer(pair.general.port)]
        for client in clients { client.widen(0, by: 70_000) }
        return clients
      }
      var clients = try connect()
      var stream: UInt32 = 1
      var answered = 0
      for number in 0..<Self.count / 3 {
        if number % 50 == 0 { pair.clock.advance(by: .seconds(1)) }
        let request = HTTP2Request(
          target: Self.targets.randomElement(using: &random) ?? "/a",
          method: Int.random(in: 0..<6, using: &random) == 0 ? "HEAD" : "GET",
          fields: Self.http2Fields(&random))
        let first = try await answer(clients[0], stream, request)
        let second = try await answer(clients[1], stream, request)
        // A response that the proxy makes itself has the time of the system.
        guard first == second || first.contains("\"400\"") && second.contains("\"400\"") else {
          Issue.record("\(request): \(first), not \(second)")
          return
        }
        stream += 2
        if first.isEmpty {
          for client in clients { client.end() }
          (clients, stream) = (try connect(), 1)
        } else {
          answered += 1
        }
      }
      for client in clients { client.end() }
      #expect(answered > Self.count / 6)
    }
  }

  @Test("a stream over HTTP/2 whose client takes the answer late is not cut off by shutting down")
  func late() async throws {
    try await withPair { pair in
      pair.clock.advance(by: .seconds(1))
      let client = try HTTP2Peer(pair.fast.port)
      // Streams begin with a closed window.
      client.send(HTTP2Peer.settings, 0, [0, 4, 0, 0, 0, 0])
      client.request(1, "/a")
      try await client.next(HTTP2Peer.headers)
      async let end: Void = pair.fast.server.shutDown(deadline: .seconds(600))
      let ping = try await client.next(HTTP2Peer.ping)
      client.send(HTTP2Peer.ping, flags: 1, 0, ping.payload)
      client.widen(1, by: 10)
      let data = try await client.next(HTTP2Peer.data)
      #expect(data.payload == Array("/a".utf8) && data.flags & 1 == 1)
      _ = try await client.rest()
      await end
    }
  }
}
