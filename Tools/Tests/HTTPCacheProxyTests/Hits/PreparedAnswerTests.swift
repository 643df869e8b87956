import HTTPCacheSemantics
import HTTPCacheTesting
import HTTPCaching
import NIOCore
import NIOEmbedded
import NIOPosix
import Testing

@testable import HTTPCacheProxy

@Suite("Prepared answers: one connection without a socket", .timeLimit(.minutes(10)))
struct PreparedAnswerTests {
  /// A hit path over a cache in memory.
  private struct Bench {
    let clock = ManualClock(now: Timestamp(seconds: 1_700_000_000))
    let cache: HTTPCache
    let context: ProxyContext
    let stream: TestingStream
    let path: HitPath

    init(capacity: Int = 1 << 20) async throws {
      cache = try HTTPCache.open(
        HTTPCache.Configuration(
          memoryCapacity: 8 << 20, rules: CacheRules(mode: .shared), cacheStatusName: "httpcache",
          clock: clock))
      stream = try await TestingStream(NIOAsyncTestingEventLoop())
      context = ProxyContext(
        configuration: ProxyServer.Configuration(
          host: "127.0.0.1", port: 0,
          mode: .reverse(Origin(isSecure: false, host: "origin", port: 80), basePath: "")),
        cache: cache,
        upstream: try NIOUpstream(group: MultiThreadedEventLoopGroup.singleton, configuration: .init()),
        exchanges: nil, loops: [stream.channel.eventLoop])
      path = HitPath(
        ClientConnection(
          stream.stream, context: context, client: ClientSide(address: nil, isSecure: false), isHTTP2: false),
        answers: PreparedAnswers(capacity: capacity, limits: MessageLimits()))
    }

    /// Stores a response for requests that the proxy gets for the host `h`.
    func store(_ target: String, vary: String = "", body: String) async throws {
      let upstream = ScriptedUpstream { _ in
        ScriptedResponse(headers: ["Cache-Control": "max-age=60", "Vary": vary], body: body)
      }
      let response = try await cache.respond(
        to: HTTPRequest(method: .get, scheme: "http", authority: "origin", path: target),
        options: RequestOptions(partition: "http://h"), via: upstream)
      _ = try await response.body.collect()
    }

    /// The answers of the hit path, and the bytes that it leaves.
    func answer(_ requests: String) -> (sent: String, rest: String, isAnswered: Bool) {
      let found = answerAndEnd(requests)
      return (found.sent, found.rest, found.last != nil)
    }

    /// The bytes of the answers, the bytes that are left, and the last answer.
    func answerAndEnd(
      _ requests: String
    ) -> (sent: String, rest: String, last: PreparedAnswer.Content?) {
      var buffer = ByteBuffer(string: requests)
      var sent = ""
      let last = path.answer(&buffer) { sent += String(buffer: $0) }
      return (sent, String(buffer: buffer), last)
    }
  }

  private static func request(_ target: String, _ fields: String = "") -> String {
    "GET \(target) HTTP/1.1\r\nHost: h\r\n\(fields)\r\n"
  }

  @Test("requests that arrive together are answered in order, up to one that is not plain")
  func several() async throws {
    let bench = try await Bench()
    try await bench.store("/a", body: "first")
    try await bench.store("/b", body: "second")
    let other = Self.request("/a", "If-Match: \"a\"\r\n")
    let (sent, rest, isAnswered) = bench.answer(
      Self.request("/a") + Self.request("/b", "User-Agent: x\r\n") + Self.request("/a") + other)
    #expect(isAnswered)
    #expect(rest == other)
    let parts = sent.split(separator: "\r\n\r\n")
    #expect(parts.count == 4)
    #expect(parts[1].hasPrefix("firstHTTP/1.1 200"))
    #expect(parts[2].hasPrefix("secondHTTP/1.1 200"))
    #expect(parts[3] == "first")
    #expect(try await bench.cache.counts().hits == 3)
  }

  @Test("a beginning of a request is left, and so is a miss")
  func others() async throws {
    let bench = try await Bench()
    try await bench.store("/a", body: "first")
    #expect(bench.answer("GET /a HT") == ("", "GET /a HT", false))
    let miss = Self.request("/missing")
    #expect(bench.answer(miss) == ("", miss, false))
    #expect(try await bench.cache.counts().hits == 0)
  }

  @Test(
    "conditions, ranges, directives and fields of the connection are answered this way",
    arguments: [
      ("If-None-Match: *\r\n", "HTTP/1.1 304 ", "\r\n\r\n"),
      ("Range: bytes=1-2\r\n", "HTTP/1.1 206 ", "\r\n\r\nir"),
      ("Range: bytes=0-0,3-4\r\n", "HTTP/1.1 206 ", "--\r\n"),
      ("Cache-Control: max-age=9\r\n", "HTTP/1.1 200 ", "\r\n\r\nfirst"),
      ("Authorization: Basic x\r\n", "HTTP/1.1 200 ", "\r\n\r\nfirst"),
      ("Connection: x\r\nX: y\r\n", "HTTP/1.1 200 ", "\r\n\r\nfirst"),
      ("Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n", "HTTP/1.1 200 ", "\r\n\r\nfirst"),
      ("Trailer: x\r\nTE: gzip\r\n", "HTTP/1.1 200 ", "\r\n\r\nfirst"),
      ("Content-Length: 0\r\nExpect: 100-continue\r\n", "HTTP/1.1 200 ", "\r\n\r\nfirst"),
      ("X_Forwarded_Host: other\r\n", "HTTP/1.1 200 ", "\r\n\r\nfirst"),
    ])
  func asked(fields: String, start: String, end: String) async throws {
    let bench = try await Bench()
    try await bench.store("/a", body: "first")
    let answer = bench.answer(Self.request("/a", fields))
    #expect(answer.isAnswered)
    #expect(answer.sent.hasPrefix(start) && answer.sent.hasSuffix(end), "\(answer.sent)")
  }

  @Test(
    "what asks the origin, has content or changes the protocol of the connection takes the slow path",
    arguments: [
      "Cache-Control: no-cache\r\n", "If-Match: \"a\"\r\n",
      "If-Unmodified-Since: Tue, 14 Nov 2023 22:13:20 GMT\r\n",
      "Connection: close, upgrade\r\nUpgrade: x\r\n",
      "Connection: close\r\nContent-Length: 1\r\n", "Content-Length: 1\r\n", "Transfer-Encoding: chunked\r\n",
      "Content-Length: 0\r\nContent-Length: 1\r\n", "Connection: Upgrade\r\nUpgrade: websocket\r\n",
      "X-HTTP-Method-Override: PUT\r\n", "Host: other\r\n", "Bad Name: 1\r\n",
    ])
  func others(fields: String) async throws {
    let bench = try await Bench()
    try await bench.store("/a", body: "first")
    let request = Self.request("/a", fields)
    #expect(bench.answer(request) == ("", request, false))
    #expect(bench.answer(Self.request("/a")).sent.hasSuffix("first"))
  }

  @Test(
    "RFC 9112 §9.6: the answer to a request that ends its connection is the last one",
    arguments: ["Connection: close\r\n", "Connection: keep-alive, Close\r\n", "connection:x,close\r\n"])
  func last(fields: String) async throws {
    let bench = try await Bench()
    try await bench.store("/a", body: "first")
    let (first, other) = (Self.request("/a"), Self.request("/a", "DNT: 1\r\n"))
    for _ in 0..<2 {
      let answer = bench.answerAndEnd(first + Self.request("/a", fields) + other)
      #expect(answer.last?.isLast == true && answer.rest == other)
      let parts = answer.sent.split(separator: "first", omittingEmptySubsequences: false)
      #expect(parts.count == 3)
      #expect(!parts[0].contains("Connection: close") && parts[1].contains("\r\nConnection: close\r\n"))
    }
  }

  @Test("an invalidation takes effect at once")
  func invalidated() async throws {
    let bench = try await Bench()
    try await bench.store("/a", body: "first")
    #expect(bench.answer(Self.request("/a")).isAnswered)
    try await bench.cache.invalidate(.all)
    #expect(!bench.answer(Self.request("/a")).isAnswered)
    #expect(try await bench.cache.counts().hits == 1)
  }

  @Test("Age is that of the request (RFC 9111 §5.1), and a stale response is left")
  func age() async throws {
    let bench = try await Bench()
    try await bench.store("/a", body: "first")
    for age in [0, 0, 1, 1, 59] {
      bench.clock.advance(by: .seconds(Int64(age) - (bench.clock.now.seconds - 1_700_000_000)))
      #expect(field("Age", in: bench.answer(Self.request("/a")).sent) == "\(age)")
    }
    bench.clock.advance(by: .seconds(1))
    #expect(!bench.answer(Self.request("/a")).isAnswered)
  }

  @Test("a request that took the slow path is looked at again in the next second")
  func later() async throws {
    let bench = try await Bench()
    #expect(!bench.answer(Self.request("/a")).isAnswered)
    try await bench.store("/a", body: "first")
    #expect(!bench.answer(Self.request("/a")).isAnswered)
    bench.clock.advance(by: .seconds(1))
    #expect(bench.answer(Self.request("/a")).isAnswered)
  }

  @Test("of several variants the one that the request selects; Vary by another field takes the slow path")
  func variants() async throws {
    let bench = try await Bench()
    try await bench.store("/a", vary: "Accept-Encoding", body: "plain")
    try await bench.store("/b", vary: "User-Agent", body: "plain")
    #expect(bench.answer(Self.request("/a")).isAnswered)
    #expect(!bench.answer(Self.request("/a", "Accept-Encoding: gzip\r\n")).isAnswered)
    #expect(bench.answer(Self.request("/a")).isAnswered)
    #expect(!bench.answer(Self.request("/b")).isAnswered)
  }

  @Test("a server that ends answers no request this way")
  func draining() async throws {
    let bench = try await Bench()
    try await bench.store("/a", body: "first")
    #expect(bench.answer(Self.request("/a")).isAnswered)
    await bench.context.registry.drain(until: .now(), on: MultiThreadedEventLoopGroup.singleton.any())
    #expect(!bench.answer(Self.request("/a")).isAnswered)
  }

  @Test("answers beyond the capacity are sent, but not kept")
  func capacity() async throws {
    let bench = try await Bench(capacity: 0)
    try await bench.store("/a", body: "first")
    #expect(bench.answer(Self.request("/a")).isAnswered)
    #expect(bench.answer(Self.request("/a")).isAnswered)
    #expect(try await bench.cache.counts().hits == 2)
  }

  @Test("each answer extends the time for which the connection may be idle")
  func idle() async throws {
    let loop = NIOAsyncTestingEventLoop()
    let testing = try await TestingStream(loop)
    let stream = testing.stream
    try await loop.executeInContext { stream.awaitRequest(idle: .seconds(10)) }
    let deadline = stream.now + .seconds(10)
    let reading = Task { try? await stream.read(until: deadline) }
    await testing.waitForReader()
    #expect(stream.isBetweenRequests)
    await loop.advanceTime(by: .seconds(7))
    try await loop.executeInContext { stream.answered() }
    await loop.advanceTime(by: .seconds(7))
    try await testing.receive("x")
    #expect(await reading.value == ByteBuffer(string: "x"))
    #expect(!stream.isBetweenRequests)
  }
}
