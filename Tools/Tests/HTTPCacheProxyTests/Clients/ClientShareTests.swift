import HTTPCaching
import NIOCore
import NIOPosix
import NIOSSL
import ServerTesting
import Testing

@testable import HTTPCacheProxy

@Suite("A client's share counts what it has under way, whatever carries it", .timeLimit(.minutes(10)))
struct ClientShareTests {
  private func withShare(
    of count: Int, all: Int = 4096, cache: HTTPCache? = nil,
    configure: (inout ProxyServer.Configuration) -> Void = { $0.isHTTP2WithoutTLS = true },
    _ body: (RunningProxy) async throws -> Void
  ) async throws {
    try await withProxy(
      cache: cache,
      configure: {
        $0.connectionsPerClient = count
        $0.connectionLimit = all
        $0.limitsLoopback = true
        configure(&$0)
      }, body)
  }

  private let done = "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"

  @Test("streams of HTTP/2: one too many gets 429, until another has ended")
  func streams() async throws {
    try await withShare(of: 2) { proxy in
      let client = try HTTP2Peer(proxy.port)
      client.request(1, "/1")
      client.request(3, "/3")
      let (first, _) = try await proxy.origin.acceptRequest()
      let (second, _) = try await proxy.origin.acceptRequest()
      client.request(5, "/5")
      let refused = try await client.response(5)
      #expect(refused.status == "429" && refused.reset == nil)
      #expect(refused.text.hasPrefix("429 Too Many Requests: ") && refused.text.hasSuffix("\n"))
      #expect(refused["content-length"] == "\(refused.body.count)")
      #expect(refused["content-type"] == "text/plain; charset=utf-8")
      client.request(7, "/7", method: "POST", ends: false)
      #expect(try await client.response(7).status == "429")
      first.send(done)
      second.send(done)
      #expect(try await client.response(1).status == "204")
      #expect(try await client.response(3).status == "204")
      client.request(9, "/9")
      let (third, _) = try await proxy.origin.acceptRequest()
      third.send(done)
      #expect(try await client.response(9).status == "204")
    }
  }

  @Test("behind a trusted proxy the client that it names has a share, over both versions of HTTP")
  func behindProxy() async throws {
    let range = try #require(AddressRange("127.0.0.0/8"))
    try await withShare(
      of: 1,
      configure: {
        $0.isHTTP2WithoutTLS = true
        $0.trustedForwarders = [range]
      }
    ) { proxy in
      let (one, other) = ("192.0.2.7", "192.0.2.8")
      func ask(_ client: String) throws -> RawPeer {
        let peer = try proxy.connect(
          sending: "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\nX-Forwarded-For: \(client)\r\n\r\n")
        return peer
      }
      let first = try ask(one)
      let (held, _) = try await proxy.origin.acceptRequest()
      #expect(try await ask(one).receiveAll().hasPrefix("HTTP/1.1 429 "))
      let http2 = try HTTP2Peer(proxy.port)
      http2.request(1, "/", [("x-forwarded-for", one)])
      #expect(try await http2.response(1).status == "429")
      // Another path: a request for the same one would wait for the first.
      http2.request(3, "/other", [("x-forwarded-for", other)])
      let (second, _) = try await proxy.origin.acceptRequest()
      second.send(done)
      #expect(try await http2.response(3).status == "204")
      held.send(done)
      #expect(try await first.receiveAll().hasPrefix("HTTP/1.1 204 "))
      http2.request(5, "/", [("x-forwarded-for", one)])
      let (third, _) = try await proxy.origin.acceptRequest()
      third.send(done)
      #expect(try await http2.response(5).status == "204")
    }
  }

  @Test("bodies of many refused requests that are on their way end no other stream (RFC 9113 §5.1)")
  func refusedBodies() async throws {
    try await withShare(of: 1) { proxy in
      let (client, peer, _) = try await proxy.openHTTP2("/1")
      let refused = (1...90).map { UInt32($0 * 2 + 1) }
      for stream in refused { client.request(stream, "/\(stream)", method: "POST", ends: false) }
      for stream in refused { #expect(try await client.response(stream).status == "429") }
      for stream in refused { client.send(HTTP2Peer.data, flags: 1, stream, [65]) }
      peer.send(done)
      #expect(try await client.response(1).status == "204")
    }
  }

  @Test("requests of HTTP/1.1 and streams of HTTP/2 together; a connection that ends gives its share back")
  func together() async throws {
    try await withShare(of: 2) { proxy in
      var plain: RawPeer? = try proxy.connect()
      plain?.send("GET /plain HTTP/1.1\r\nHost: h\r\n\r\n")
      let (first, _) = try await proxy.origin.acceptRequest()
      let (client, second, _) = try await proxy.openHTTP2("/1")
      client.request(3, "/3")
      #expect(try await client.response(3).status == "429")
      plain?.resetWhenClosed()
      plain = nil
      #expect(try await first.receiveAll() == "")
      try await eventually { proxy.server.connectionCount == 1 }
      client.request(5, "/5")
      let (third, _) = try await proxy.origin.acceptRequest()
      client.end()
      for peer in [second, third] { #expect(try await peer.receiveAll() == "") }
      try await eventually { proxy.server.connectionCount == 0 }
      let next = try HTTP2Peer(proxy.port)
      next.request(1, "/1")
      next.request(3, "/3")
      let answered = [try await proxy.origin.acceptRequest(), try await proxy.origin.acceptRequest()]
      for (peer, _) in answered { peer.send(done) }
      #expect(try await next.response(1).status == "204")
      #expect(try await next.response(3).status == "204")
    }
  }

  @Test("requests of all clients: one too many gets 503")
  func all() async throws {
    try await withShare(of: 9, all: 2) { proxy in
      let client = try HTTP2Peer(proxy.port)
      client.request(1, "/1")
      client.request(3, "/3")
      let peers = [try await proxy.origin.acceptRequest(), try await proxy.origin.acceptRequest()]
      client.request(5, "/5")
      #expect(try await client.response(5).status == "503")
      for (peer, _) in peers { peer.send(done) }
      #expect(try await client.response(1).status == "204")
    }
  }

  @Test("answers from memory that leave at once count in no share")
  func hits() async throws {
    try await withShare(of: 1, cache: memoryCache()) { proxy in
      try await proxy.miss("/a")
      try await eventually { proxy.server.connectionCount == 0 }
      let (client, peer, _) = try await proxy.openHTTP2("/other")
      client.request(3, "/a")
      client.request(5, "/a")
      #expect(try await client.response(3).text == "x")
      #expect(try await client.response(5).text == "x")
      peer.send(done)
      #expect(try await client.response(1).status == "204")
    }
  }

  @Test("connections on which no protocol is chosen", arguments: [false, true])
  func undecided(isTLS: Bool) async throws {
    let configure: (inout ProxyServer.Configuration) -> Void = {
      if isTLS { $0.tls = try? TestCertificate.server() } else { $0.isHTTP2WithoutTLS = true }
    }
    try await withShare(of: 1, configure: configure) { proxy in
      let silent = try proxy.connect()
      try await eventually { proxy.server.connectionCount == 1 }
      #expect(try await proxy.connect().receiveAll() == "")
      silent.end()
      try await eventually { proxy.server.connectionCount == 0 }
      let next = try proxy.connect()
      try await eventually { proxy.server.connectionCount == 1 }
      next.end()
    }
  }

  @Test("a connection of TLS without HTTP/2 counts too, and ends if there is no handshake")
  func noHandshake() async throws {
    let configure: (inout ProxyServer.Configuration) -> Void = {
      $0.tls = try? TestCertificate.server()
      $0.isHTTP2 = false
      $0.headTimeout = .milliseconds(50)
    }
    try await withShare(of: 1, configure: configure) { proxy in
      let silent = try proxy.connect()
      #expect(try await silent.receiveAll() == "")
      try await eventually { proxy.server.connectionCount == 0 }
    }
  }

  @Test("connections of the admin listener, with and without a request")
  func admin() async throws {
    let server = try await AdminServer.start(
      host: "127.0.0.1", port: 0, access: AdminAccess(token: nil),
      group: MultiThreadedEventLoopGroup.singleton
    ) { _ in AdminResponse(body: "ok") }
    let port = try #require(server.port)
    var silent = try (0..<64).map { _ in try RawPeer.connect(port) }
    #expect(try await RawPeer.connect(port).receiveAll() == "")
    silent = []
    var answer = ""
    while answer.isEmpty, !Task.isCancelled {
      let client = try RawPeer.connect(port)
      client.send("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
      answer = try await client.receiveAll()
    }
    #expect(answer.hasSuffix("ok"))
    withExtendedLifetime(silent) {}
    await server.shutDown()
  }
}
