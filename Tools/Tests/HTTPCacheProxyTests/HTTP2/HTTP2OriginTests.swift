import Foundation
import HTTPCaching
import NIOCore
import NIOHPACK
import NIOHTTP2
import NIOSSL
import ServerTesting
import Synchronization
import Testing

@testable import HTTPCacheProxy

@Suite("HTTP/2 to origins (RFC 9113)", .timeLimit(.minutes(10))) struct HTTP2OriginTests {
  private func withOrigin(
    at port: Int, cache: HTTPCache? = nil, idle: TimeAmount = .seconds(30), connections: Int = 1_024,
    configure: (inout ProxyServer.Configuration) -> Void = { _ in },
    _ body: (RunningProxy) async throws -> Void
  ) async throws {
    var upstream = try NIOUpstream.Configuration.tls(offersHTTP2: true)
    upstream.idleTimeout = idle
    upstream.connectionsPerOrigin = connections
    upstream.clientPatience = .milliseconds(1)
    try await withProxy(
      upstream: upstream, cache: cache,
      configure: {
        $0.mode = .reverse(toTLS: port)
        $0.isHTTP2WithoutTLS = true
        configure(&$0)
      },
      body)
  }

  /// Runs a test with an origin that answers as the closure says.
  func withAnswers(
    protocols: [String] = ["h2", "http/1.1"], cache: HTTPCache? = nil, idle: TimeAmount = .seconds(30),
    _ answer: @escaping @Sendable (StreamRequest) -> Void,
    then body: (RunningProxy) async throws -> Void
  ) async throws {
    let origin = try await ScriptedOrigin.http2(protocols: protocols, answer)
    try await withOrigin(at: origin.port, cache: cache, idle: idle, body)
  }

  /// Takes all streams of a connection with bodies that its client does not read, then sends other requests.
  private func expectOthersServed(connections: Int, slow: Int) async throws {
    let origin = try await ScriptedOrigin.http2(streams: 2) { request in
      request.head([":status": "200", "cache-control": "no-store"])
      let isLong = request.headers.first(name: ":path")?.hasPrefix("/long") == true
      request.body(isLong ? String(repeating: "x", count: 4 << 20) : "ok", ends: true)
    }
    try await withOrigin(at: origin.port, connections: connections) { proxy in
      // One connection for the loop of each client's connection.
      var readers: [RawPeer] = []
      for number in 0..<slow {
        let reader = try RawPeer.connect(proxy.port, receiveBuffer: 4096)
        reader.send("GET /long\(number) HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(try await reader.receiveHead().hasPrefix("HTTP/1.1 200 "))
        readers.append(reader)
      }
      for number in 0..<4 {
        #expect(try await get("/\(number)", from: proxy).contains("\r\nok\r\n"))
      }
      #expect(proxy.upstream.connectionCounts.open <= connections)
      withExtendedLifetime(readers) {}
    }
  }

  @Test("an origin whose streams are used up gets another connection")
  func usedUp() async throws { try await expectOthersServed(connections: 64, slow: 9) }

  @Test("streams that wait for slow clients lose the place of their connection")
  func placeless() async throws { try await expectOthersServed(connections: 4, slow: 7) }

  @Test(
    "one place: requests of every event loop share its streams, and a request that needs HTTP/1.1 takes it over"
  )
  func onePlace() async throws {
    let origin = try await ScriptedOrigin.http2 { request in
      request.head([":status": "200", "cache-control": "no-store"])
      request.body("two", ends: true)
    }
    try await withOrigin(at: origin.port, connections: 1) { proxy in
      for number in 0..<(4 * System.coreCount) {
        #expect(try await get("/\(number)", from: proxy).contains("\r\ntwo\r\n"))
      }
      let client = try proxy.connect(
        sending: "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nConnection: close\r\n\r\nx")
      #expect(try await client.receiveAll().hasSuffix("\r\n\r\none"))
    }
  }

  @Test("requests that wait get streams as soon as the origin allows more")
  func allowedLater() async throws {
    let held = Mutex<StreamRequest?>(nil)
    let origin = try await ScriptedOrigin.http2(streams: 1) { request in
      if request.headers.first(name: ":path") == "/held" { return held.withLock { $0 = request } }
      request.head([":status": "204"], ends: true)
    }
    try await withOrigin(at: origin.port, connections: 1) { proxy in
      let first = try proxy.connect(sending: "GET /held HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
      try await eventually { held.withLock { $0 != nil } }
      let waiting = try (0..<4).map { _ in try proxy.connect() }
      for (number, client) in waiting.enumerated() {
        client.send("GET /\(number) HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
      }
      held.withLock { $0 }?.allow(streams: 100)
      for client in waiting { #expect(try await client.receiveAll().hasPrefix("HTTP/1.1 204 ")) }
      held.withLock { $0 }?.head([":status": "204"], ends: true)
      #expect(try await first.receiveAll().hasPrefix("HTTP/1.1 204 "))
    }
  }

  @Test("interim responses without end are refused as they arrive")
  func interimFlood() async throws {
    try await withAnswers { request in
      for _ in 0..<10_000 { request.head([":status": "103", "link": "</a>"]) }
      request.head([":status": "200"], ends: true)
    } then: { proxy in
      let answer = try await get("/", from: proxy)
      #expect(answer.contains("HTTP/1.1 502 ") && !answer.contains("HTTP/1.1 200 "))
      #expect(answer.components(separatedBy: "HTTP/1.1 103 ").count - 1 <= RequestAttempt.mostInterim)
    }
  }

  func get(_ path: String, _ fields: String = "", from proxy: RunningProxy) async throws -> String {
    let client = try proxy.connect(
      sending: "GET \(path) HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\(fields)\r\n")
    return try await client.receiveAll()
  }

  @Test("requests are streams of one connection; what is stored is answered again")
  func streams() async throws {
    try await withAnswers(cache: memoryCache()) { request in
      let fields = ["cookie", "te", "connection", ":scheme"].map { request.headers.first(name: $0) ?? "-" }
      request.head([
        ":status": "200", "cache-control": "max-age=60", "x-connection": "\(request.connection)",
        "x-fields": fields.joined(separator: ","),
      ])
      request.body("body of \(request.headers.first(name: ":path") ?? "")", ends: true)
    } then: { proxy in
      let first = try await get("/a", "Cookie: a=1\r\nTE: trailers\r\nConnection: TE\r\n", from: proxy)
      #expect(first.hasPrefix("HTTP/1.1 200 OK\r\n") && first.contains("\r\nbody of /a\r\n"))
      #expect(field("X-Fields", in: first) == "a=1,trailers,-,https")
      #expect(field("X-Connection", in: first) == "1")
      #expect(try await get("/b", from: proxy).contains("body of /b"))
      for number in 0..<20 { _ = try await get("/\(number)", from: proxy) }
      // One for each event loop.
      #expect(proxy.upstream.connectionCounts.open <= System.coreCount)
      #expect(try await get("/a", from: proxy).contains("hit"))
    }
  }

  @Test(
    "a malformed response ends its stream; another response on the connection goes on (RFC 9113 §8.1.1)",
    arguments: ["content-length", "Upper", ":other"])
  func malformed(_ name: String) async throws {
    let held = Mutex<[StreamRequest]>([])
    try await withAnswers { request in
      switch request.headers.first(name: ":path") {
      case "/held":
        request.head([":status": "200", "content-length": "8"])
        request.body("half")
        held.withLock { $0.append(request) }
      case "/finish":
        held.withLock { $0 }.forEach { $0.body("done", ends: true) }
        request.head([":status": "200"], ends: true)
      default:
        request.head([":status": "200", name: "5"])
        request.body("12", ends: true)
      }
    } then: { proxy in
      // A request before makes the connection, which all others then use.
      _ = try await get("/bad", from: proxy)
      let clients = try (0..<4).map { _ in try proxy.connect() }
      for client in clients { client.send("GET /held HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n") }
      try await eventually { held.withLock { $0.count } >= clients.count }
      for _ in 0..<4 { _ = try? await get("/bad", from: proxy) }
      _ = try await get("/finish", from: proxy)
      for client in clients { #expect(try await client.receiveAll().hasSuffix("\r\n\r\nhalfdone")) }
    }
  }

  @Test("serve speaks HTTP/2 to serve; a request with a body goes over HTTP/1.1")
  func both() async throws {
    try await withProxy(configure: { $0.tls = try? TestCertificate.server() }) { inner in
      try await withOrigin(at: inner.port) { outer in
        async let got = get("/a", from: outer)
        let (peer, head) = try await inner.origin.acceptRequest()
        #expect(head.contains(/Via: 2 httpcache/))
        let size = 3 << 20
        peer.send("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: \(size)\r\n\r\n")
        await peer.send([UInt8](repeating: 65, count: size))
        #expect(try await got.hasSuffix("\r\n\r\n" + String(repeating: "A", count: size)))
        let client = try outer.connect(sending: "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc")
        let (other, posted) = try await inner.origin.acceptRequest()
        #expect(!posted.contains(/Via: 2 httpcache/))
        try await other.answerNoContent(to: client)
      }
    }
  }

  @Test("an origin that only knows HTTP/1.1 is asked so, and its connection is used again")
  func http1() async throws {
    try await withAnswers(protocols: ["http/1.1"], { _ in }) { proxy async throws in
      // One for each event loop at most.
      for _ in 0..<System.coreCount * 3 {
        #expect(try await get("/", from: proxy).hasSuffix("\r\n\r\none"))
      }
      #expect(proxy.upstream.connectionCounts.open <= System.coreCount)
    }
  }

  @Test("a body that breaks off with the connection, or is reset, is not complete and not stored")
  func brokenOff() async throws {
    try await withAnswers(cache: memoryCache()) { request in
      request.head([":status": "200", "cache-control": "max-age=60"])
      request.body("part")
      if request.headers.first(name: ":path") == "/reset" {
        request.reset(.internalError)
      } else {
        request.closeConnection()
      }
    } then: { proxy in
      for path in ["/reset", "/close", "/reset", "/close"] {
        let response = try await get(path, from: proxy)
        #expect(!response.hasSuffix("0\r\n\r\n") && !response.contains("hit"))
        // The end of the connection may overtake the head.
        #expect(path == "/close" || response.hasPrefix("HTTP/1.1 200 "))
      }
    }
  }

  @Test(
    "a stream that is refused is asked again over HTTP/1.1",
    arguments: [NIOHTTP2.HTTP2ErrorCode.refusedStream, .http11Required])
  func refused(_ code: NIOHTTP2.HTTP2ErrorCode) async throws {
    try await withAnswers({ $0.reset(code) }) { proxy async throws in
      #expect(try await get("/", from: proxy).hasSuffix("\r\n\r\none"))
    }
  }

  @Test("after GOAWAY, a request begins a new connection; the stream under way ends as usual")
  func goAway() async throws {
    try await withAnswers { request in
      request.goAway()
      request.head([":status": "200", "content-length": "1"])
      request.body("\(request.connection)", ends: true)
    } then: { proxy in
      for number in 1...3 {
        #expect(try await get("/", from: proxy).hasSuffix("\r\n\r\n\(number)"))
      }
      try await eventually { proxy.upstream.connectionCounts.open == 0 }
    }
  }

  @Test("a connection whose stream gets no answer in time takes no more streams")
  func silent() async throws {
    let origin = try await ScriptedOrigin.http2 { request in
      guard request.headers.first(name: ":path") != "/silent" else { return }
      request.head([":status": "204", "x-connection": "\(request.connection)"], ends: true)
    }
    // With one place, requests of every event loop use the same connection.
    try await withOrigin(
      at: origin.port, connections: 1, configure: { $0.addRoute("/silent", head: .milliseconds(100)) }
    ) { proxy in
      let first = try await get("/", from: proxy)
      #expect(field("X-Connection", in: first) == "1")
      #expect(try await get("/silent", from: proxy).hasPrefix("HTTP/1.1 504 "))
      let second = try await get("/", from: proxy)
      #expect(field("X-Connection", in: second) == "2")
    }
  }

  @Test("a connection without streams is closed after the idle time")
  func idle() async throws {
    try await withAnswers(idle: .milliseconds(100), { $0.head([":status": "204"], ends: true) }) { proxy in
      #expect(try await get("/", from: proxy).hasPrefix("HTTP/1.1 204 "))
      try await eventually { proxy.upstream.connectionCounts.open == 0 }
    }
  }

  private static let bad: [KeyValuePairs<String, String>] = [
    [:], [":status": "20"], [":status": "abc"], [":status": "101"], [":status": "200", "a b": "c"],
    [":status": "200", "a": "b\r\nc: d"], [":status": "200", "Upper": "a"],
    [":status": "200", "transfer-encoding": "chunked"], [":status": "200", "content-length": "9"],
    [":status": "200", ":other": "a"],
  ]

  @Test("a response that is not allowed never reaches the client as it is", arguments: bad.indices)
  func refusedResponse(_ index: Int) async throws {
    try await withAnswers({ $0.head(Self.bad[index], ends: true) }) { proxy in
      let response = try await get("/", from: proxy)
      // Either 502, or what the origin says over HTTP/1.1.
      #expect(response.hasPrefix("HTTP/1.1 502 ") || response.hasSuffix("\r\n\r\none"))
      #expect(!response.contains("c: d"))
    }
  }

  @Test("many requests at once share few connections")
  func many() async throws {
    try await withAnswers { request in
      request.head([":status": "200"])
      request.body("ok", ends: true)
    } then: { proxy in
      #expect(try await get("/first", from: proxy).contains("\r\nok\r\n"))
      try await withThrowingTaskGroup(of: Bool.self) { group in
        for number in 0..<150 {
          group.addTask { try await get("/\(number)", from: proxy).contains("\r\nok\r\n") }
        }
        for try await isRight in group { #expect(isRight) }
      }
      // Those that were opened together beyond one for each event loop end with their first stream.
      try await eventually { proxy.upstream.connectionCounts.open <= System.coreCount }
    }
  }

  @Test("a certificate that is not trusted is 502")
  func untrusted() async throws {
    try await withProxy(configure: { $0.tls = try? TestCertificate.server() }) { inner in
      try await withProxy(
        upstream: .with { $0.offersHTTP2 = true }, configure: { $0.mode = .reverse(toTLS: inner.port) }
      ) { outer async throws in
        #expect(try await get("/", from: outer).hasPrefix("HTTP/1.1 502 "))
      }
    }
  }

  @Test("an origin that closes the connection instead of a handshake is 502")
  func noHandshake() async throws {
    let origin = try RawOrigin()
    try await withOrigin(at: origin.port) { proxy in
      async let response = get("/", from: proxy)
      try await origin.accept().end()
      #expect(try await response.hasPrefix("HTTP/1.1 502 "))
    }
  }
}
