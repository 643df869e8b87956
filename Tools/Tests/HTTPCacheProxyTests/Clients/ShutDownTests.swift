import NIOCore
import ServerTesting
import Testing

@testable import HTTPCacheProxy

@Suite("Shutting down", .timeLimit(.minutes(10))) struct ShutDownTests {
  private let get = "GET / HTTP/1.1\r\nHost: h\r\n\r\n"

  @Test("shutting down closes idle connections and lets requests under way end")
  func shutdown() async throws {
    // With one place, both requests use the same connection to the origin, whichever event loop they are on.
    try await withProxy(upstream: .with { $0.connectionsPerOrigin = 1 }) { proxy in
      let idle = try proxy.connect()
      let busy = try proxy.connect()
      idle.send(get)
      let (peer, _) = try await proxy.origin.acceptRequest()
      try await peer.answerNoContent(to: idle)
      busy.send(get)
      _ = try await peer.receiveHead()
      async let end: Void = proxy.server.shutDown(deadline: .seconds(600))
      #expect(try await idle.receiveAll() == "")
      peer.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nlast")
      let all = try await busy.receiveAll()
      #expect(all.hasSuffix("\r\n\r\nlast"))
      #expect(field("Connection", in: all) == "close")
      await end
      #expect(proxy.server.connectionCount == 0)
      #expect(throws: RawPeer.Failure.self) { try proxy.connect() }
    }
  }

  @Test("shutting down does not wait beyond its deadline")
  func shutdownDeadline() async throws {
    try await withProxy { proxy in
      let (busy, peer, _) = try await proxy.open(get)
      await proxy.server.shutDown(deadline: .milliseconds(50))
      #expect(try await busy.receiveAll() == "")
      #expect(try await peer.receiveAll() == "")
    }
  }
}
