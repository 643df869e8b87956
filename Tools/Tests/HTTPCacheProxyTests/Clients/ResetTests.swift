import Foundation
import NIOCore
import NIOEmbedded
import NIOSSL
import ServerTesting
import Testing

@testable import HTTPCacheProxy

/// Ends connections after each of their first bytes. A handler that cannot stand that ends this process.
@Suite("Connections that end at any byte", .timeLimit(.minutes(60))) struct ResetTests {
  /// How many connections each test makes.
  private static let count =
    ProcessInfo.processInfo.environment["HTTPCACHE_RESETS"].flatMap { Int($0) } ?? 1_500

  private static let requests = [
    "GET /a HTTP/1.1\r\nHost: h\r\n\r\nGET /b HTTP/1.1\r\nHost: h\r\n\r\n",
    "POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n",
    "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\nbody",
    "GET /a HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\ntunnelled bytes",
    String(repeating: "GET /a HTTP/1.1\r\nHost: h\r\n\r\n", count: 60),
  ].map { Array($0.utf8) }

  private static func http2(_ rest: [UInt8]) -> [UInt8] {
    Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + HTTP2Peer.frame(HTTP2Peer.settings) + rest
  }

  private static func head(_ method: String, _ stream: UInt32, ends: Bool) -> [UInt8] {
    let fields = [(":method", method), (":scheme", "http"), (":authority", "h"), (":path", "/a")]
    return HTTP2Peer.frame(
      HTTP2Peer.headers, flags: ends ? 5 : 4, stream: stream, payload: HTTP2Peer.block(fields))
  }

  private static let http2Requests = [
    http2(head("GET", 1, ends: true) + head("GET", 3, ends: true)),
    http2(
      head("POST", 1, ends: false)
        + HTTP2Peer.frame(HTTP2Peer.data, flags: 1, stream: 1, payload: Array("body".utf8))),
    http2((0..<180).flatMap { _ in HTTP2Peer.frame(HTTP2Peer.ping, payload: [1, 2, 3, 4, 5, 6, 7, 8]) }),
    http2((0..<40).flatMap { head("GET", UInt32($0 * 2 + 1), ends: true) }),
  ]

  /// The first flight of a TLS client.
  private static func clientHello() throws -> [UInt8] {
    let channel = EmbeddedChannel()
    var tls = try TestCertificate.client()
    tls.applicationProtocols = ["h2", "http/1.1"]
    let context = try NIOSSLContext(configuration: tls)
    try channel.pipeline.syncOperations.addHandler(
      NIOSSLClientHandler(context: context, serverHostname: "localhost"))
    try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    var bytes: [UInt8] = []
    while let buffer = try channel.readOutbound(as: ByteBuffer.self) { bytes += Array(buffer: buffer) }
    return bytes
  }

  /// Answers an upgrade with 101, then with what it gets; any other request with 200.
  private static func answer(_ request: ScriptedOrigin.Request) -> ScriptedOrigin.Answer {
    if request.fields["upgrade"] != nil {
      let head = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket"
      return ScriptedOrigin.Answer(head: head, isHeld: true)
    }
    guard request.line.hasSuffix(" HTTP/1.1") else { return .init(bytes: request.text.utf8, isHeld: true) }
    let head = "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 2"
    return ScriptedOrigin.Answer(head: head, body: Array("ok".utf8), isHeld: true)
  }

  /// Makes connections that end after each number of bytes in turn, by a reset or an end, and asks whether the proxy
  /// still serves another client.
  private func expectServed(
    _ transcripts: [[UInt8]], configure: @escaping (inout ProxyServer.Configuration) -> Void,
    isServed: (RunningProxy) async throws -> Bool
  ) async throws {
    let origin = try await ScriptedOrigin { Self.answer($0) }
    try await withProxy(
      cache: memoryCache(),
      configure: {
        $0.mode = .reverse(Origin(isSecure: false, host: "127.0.0.1", port: origin.port), basePath: "")
        configure(&$0)
      }
    ) { proxy in
      for start in stride(from: 0, to: Self.count, by: 500) {
        await withCheckedContinuation { continuation in
          Thread.detachNewThread {
            for number in start..<min(start + 500, Self.count) {
              let transcript = transcripts[number % transcripts.count]
              // Long transcripts end at more places than their first bytes.
              let cut = (number / transcripts.count) * 7 % (transcript.count + 1)
              guard let peer = try? RawPeer.connect(proxy.port) else { continue }
              if number % 3 > 0 { peer.resetWhenClosed() }
              peer.sendNow(Array(transcript[..<cut]))
            }
            continuation.resume()
          }
        }
        let isAnswered = try await isServed(proxy)
        #expect(isAnswered)
      }
      try await eventually { proxy.server.connectionCount == 0 }
    }
  }

  private func get(_ proxy: RunningProxy) async throws -> Bool {
    let client = try proxy.connect(sending: "GET /a HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
    return try await client.receiveAll().hasSuffix("\r\n\r\nok")
  }

  @Test("HTTP/1.1: heads, bodies, upgrades, many requests at once")
  func http1() async throws {
    try await expectServed(Self.requests, configure: { _ in }, isServed: get)
  }

  @Test("a listener for HTTP/2 with prior knowledge: prefaces, frames, and HTTP/1.1")
  func priorKnowledge() async throws {
    try await expectServed(
      Self.http2Requests + Self.requests, configure: { $0.isHTTP2WithoutTLS = true }, isServed: get)
  }

  @Test("TLS: handshakes that end")
  func handshakes() async throws {
    let hello = try Self.clientHello()
    try #require(hello.count > 100)
    try await expectServed(
      [hello, hello + hello], configure: { $0.tls = try? TestCertificate.server() }
    ) { inner in
      var isServed = false
      try await withProxy(upstream: .tls(), configure: { $0.mode = .reverse(toTLS: inner.port) }) { outer in
        isServed = try await self.get(outer)
      }
      return isServed
    }
  }
}
