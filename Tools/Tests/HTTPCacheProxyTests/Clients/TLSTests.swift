import HTTPCaching
import NIOCore
import NIOPosix
import NIOSSL
import NIOTLS
import ServerTesting
import Testing

@testable import HTTPCacheProxy

@Suite("TLS on both sides", .timeLimit(.minutes(10))) struct TLSTests {
  @Test("a proxy that listens with TLS serves a proxy that asks https origins")
  func both() async throws {
    try await withProxy(configure: { $0.tls = try? TestCertificate.server() }) { inner in
      try await withProxy(upstream: .tls(), configure: { $0.mode = .reverse(toTLS: inner.port) }) { outer in
        let client = try outer.connect()
        client.send("POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nConnection: close\r\n\r\nabc")
        let (peer, head) = try await inner.origin.acceptRequest()
        #expect(head.hasPrefix("POST /a HTTP/1.1\r\n"))
        #expect(try await peer.receive(count: 3) == "abc")
        let size = 1 << 20
        peer.send("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n")
        async let counted = client.receiveAll()
        await peer.send([UInt8](repeating: 65, count: size))
        let all = try await counted
        #expect(all.utf8.count > size)
        #expect(all.hasSuffix("\r\n\r\n" + String(repeating: "A", count: size)))
      }
    }
  }

  /// Clients with what is too old or too weak: versions before 1.2 (RFC 8996), and suites that HTTP/2 forbids
  /// (RFC 9113 §9.2.2).
  private static let weak: [@Sendable (inout TLSConfiguration) -> Void] = [
    { ($0.minimumTLSVersion, $0.maximumTLSVersion) = (.tlsv1, .tlsv1) },
    { ($0.minimumTLSVersion, $0.maximumTLSVersion) = (.tlsv1, .tlsv11) },
    {
      $0.maximumTLSVersion = .tlsv12
      $0.cipherSuites = "ECDHE-ECDSA-AES128-SHA:ECDHE-ECDSA-AES256-SHA:ECDHE-RSA-AES128-SHA:AES128-GCM-SHA256"
    },
  ]

  private func handshakes(_ port: Int, _ change: (inout TLSConfiguration) -> Void) async throws -> Bool {
    var tls = try TestCertificate.client()
    tls.applicationProtocols = ["http/1.1"]
    change(&tls)
    let context = try NIOSSLContext(configuration: tls)
    let done = MultiThreadedEventLoopGroup.singleton.any().makePromise(of: Void.self)
    let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandlers([
            try NIOSSLClientHandler(context: context, serverHostname: "localhost"), HandshakeObserver(done),
          ])
        }
      }
      .connect(host: "127.0.0.1", port: port).get()
    let isDone = (try? await done.futureResult.get()) != nil
    try? await channel.close()
    return isDone
  }

  private final class HandshakeObserver: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    private let done: EventLoopPromise<Void>
    init(_ done: EventLoopPromise<Void>) { self.done = done }
    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
      if case .handshakeCompleted? = event as? TLSUserEvent { done.succeed() }
    }
    func channelInactive(context: ChannelHandlerContext) { done.fail(ChannelError.eof) }
    func errorCaught(context: ChannelHandlerContext, error: any Error) { done.fail(error) }
  }

  @Test("clients with old versions or weak suites get no connection, others do", arguments: weak.indices)
  func weakClient(_ index: Int) async throws {
    for isHTTP2 in [true, false] {
      try await withProxy(configure: {
        $0.tls = try? TestCertificate.server()
        $0.isHTTP2 = isHTTP2
      }) { proxy in
        let isWeakServed = try await handshakes(proxy.port, Self.weak[index])
        let is12Served = try await handshakes(proxy.port) { $0.maximumTLSVersion = .tlsv12 }
        let is13Served = try await handshakes(proxy.port) { $0.minimumTLSVersion = .tlsv13 }
        #expect(!isWeakServed && is12Served && is13Served)
      }
    }
  }

  @Test("origins with old versions or weak suites get 502", arguments: weak.indices)
  func weakOrigin(_ index: Int) async throws {
    var tls = try TestCertificate.server()
    Self.weak[index](&tls)
    let origin = try await ScriptedOrigin(tls: tls) { _ in nil }
    for offersHTTP2 in [true, false] {
      try await withProxy(
        upstream: .tls(offersHTTP2: offersHTTP2), configure: { $0.mode = .reverse(toTLS: origin.port) }
      ) { proxy in
        let client = try proxy.connect(sending: "GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(try await client.receiveHead().hasPrefix("HTTP/1.1 502 "))
      }
    }
  }

  @Test("a certificate that is not trusted is 502 and an error of kind tls")
  func untrusted() async throws {
    try await withProxy(configure: { $0.tls = try? TestCertificate.server() }) { inner in
      try await withProxy(configure: { $0.mode = .reverse(toTLS: inner.port) }) { outer in
        let client = try outer.connect(sending: "GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        let head = try await client.receiveHead()
        #expect(head.hasPrefix("HTTP/1.1 502 "))
        #expect(field("Cache-Status", in: head) == nil)
      }
    }
  }

  @Test("a certificate for another host is not trusted")
  func wrongHost() async throws {
    try await withProxy(configure: { $0.tls = try? TestCertificate.server() }) { inner in
      try await withProxy(
        upstream: .tls(),
        configure: {
          $0.mode = .reverse(Origin(isSecure: true, host: "127.0.0.2", port: inner.port), basePath: "")
        }
      ) { outer in
        let client = try outer.connect(sending: "GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(try await client.receiveHead().hasPrefix("HTTP/1.1 502 "))
      }
    }
  }
}
