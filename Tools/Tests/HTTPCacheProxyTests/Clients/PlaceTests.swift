import NIOCore
import ServerTesting
import Synchronization
import Testing

@testable import HTTPCacheProxy

@Suite("Places among the connections to an origin", .timeLimit(.minutes(10))) struct PlaceTests {
  private let get = "GET /other HTTP/1.1\r\nHost: h\r\n\r\n"

  /// One place, which a client that is slow for a millisecond may lose.
  private var onePlace: NIOUpstream.Configuration {
    .with { ($0.connectionsPerOrigin, $0.clientPatience) = (1, .milliseconds(1)) }
  }

  private func expectAnotherRequest(_ proxy: RunningProxy) async throws {
    let (other, peer, head) = try await proxy.open(get)
    #expect(head.hasPrefix("GET /other "))
    try await peer.answerNoContent(to: other)
  }

  @Test("an upgraded connection holds no place")
  func upgraded() async throws {
    try await withProxy(upstream: .with { $0.connectionsPerOrigin = 1 }) { proxy in
      let (client, peer, _) = try await proxy.open(
        "GET / HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
      peer.send("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nhello")
      _ = try await client.receive(through: "hello")
      try await expectAnotherRequest(proxy)
      client.send("still there")
      #expect(try await peer.receive(count: 11) == "still there")
    }
  }

  @Test("a request with a slow body loses its place, and is answered all the same")
  func slowUpload() async throws {
    try await withProxy(upstream: onePlace) { proxy in
      let (client, peer, _) = try await proxy.open(
        "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\na")
      #expect(try await peer.receive(count: 1) == "a")
      try await expectAnotherRequest(proxy)
      client.send("bc")
      #expect(try await peer.receive(count: 2) == "bc")
      try await peer.answerNoContent(to: client)
      #expect(proxy.upstream.connectionCounts.open <= 1)
    }
  }

  @Test("a request whose client does not read the response loses its place")
  func slowReader() async throws {
    try await withProxy(upstream: onePlace) { proxy in
      let client = try RawPeer.connect(proxy.port, receiveBuffer: 4096)
      client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
      let (peer, _) = try await proxy.origin.acceptRequest()
      let size = 32 << 20
      peer.send("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n")
      async let sent = peer.send([UInt8](repeating: 7, count: size))
      _ = try await client.receiveHead()
      try await expectAnotherRequest(proxy)
      #expect(try await client.count(upTo: size) == size)
      #expect(await sent == size)
    }
  }

  @Test("a request that waits for its origin keeps its place")
  func slowOrigin() async throws {
    try await withProxy(upstream: onePlace) { proxy in
      let (client, peer, _) = try await proxy.open(
        "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\na")
      #expect(try await peer.receive(count: 1) == "a")
      let other = try proxy.connect(sending: get)
      defer { withExtendedLifetime(other) {} }
      try await eventually { proxy.upstream.pool.waiting.load(ordering: .relaxed) == 1 }
      // No event tells that a place is kept: it would be lost after a millisecond.
      #expect(try await proxy.origin.acceptIfAny(within: 50) == nil)
      try await peer.answerNoContent(to: client)
      #expect(try await peer.receiveHead().hasPrefix("GET /other "))
    }
  }
}
