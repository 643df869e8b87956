import NIOCore
import NIOEmbedded
import ServerTesting
import Testing

@testable import HTTPCacheProxy

@Suite("Tunnels", .timeLimit(.minutes(10))) struct TunnelTests {
  private static let ask = "GET / HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
  private static let agreed =
    "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"

  @Test("the client is told of an upgrade though neither side speaks")
  func toldAtOnce() async throws {
    try await withProxy { proxy in
      let (client, peer, _) = try await proxy.open(Self.ask)
      peer.send(Self.agreed)
      #expect(try await client.receiveHead().hasPrefix("HTTP/1.1 101 "))
    }
  }

  @Test("a 101 to a protocol that was not requested is an error (RFC 9110 §7.8)")
  func otherProtocol() async throws {
    try await withProxy { proxy in
      let (client, peer, _) = try await proxy.open(Self.ask)
      peer.send(
        "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket, other\r\n\r\n")
      #expect(try await client.receiveHead().hasPrefix("HTTP/1.1 502 "))
    }
  }

  /// Opens a tunnel with CONNECT or by an upgrade.
  private func withTunnel(
    upgrades: Bool, _ body: (_ client: RawPeer, _ peer: RawPeer) async throws -> Void
  ) async throws {
    let target = try RawOrigin()
    let rules = upgrades ? nil : ForwardRules(connectPorts: [target.port])
    try await withProxy(forward: rules) { proxy in
      let client = try RawPeer.connect(proxy.port, receiveBuffer: 4096)
      if upgrades {
        client.send(Self.ask)
        let (peer, _) = try await proxy.origin.acceptRequest()
        peer.send(Self.agreed)
        _ = try await client.receiveHead()
        try await body(client, peer)
      } else {
        let host = "127.0.0.1:\(target.port)"
        client.send("CONNECT \(host) HTTP/1.1\r\nHost: \(host)\r\n\r\n")
        _ = try await client.receiveHead()
        try await body(client, try await target.accept())
      }
    }
  }

  @Test(
    "a client that has ended its side gets all that the other side still sends", arguments: [false, true])
  func clientEnds(_ upgrades: Bool) async throws {
    try await withTunnel(upgrades: upgrades) { (client: RawPeer, peer: RawPeer) async throws in
      client.send("last")
      client.finish()
      #expect(try await peer.receiveAll() == "last")
      let size = 1 << 20
      #expect(await peer.send([UInt8](repeating: 7, count: size)) == size)
      peer.finish()
      #expect(try await client.count(upTo: .max) == size)
    }
  }

  @Test("an origin that has ended its side gets all that the client still sends", arguments: [false, true])
  func originEnds(_ upgrades: Bool) async throws {
    try await withTunnel(upgrades: upgrades) { (client: RawPeer, peer: RawPeer) async throws in
      peer.send("last")
      peer.finish()
      #expect(try await client.receiveAll() == "last")
      let size = 1 << 20
      async let sent = client.send([UInt8](repeating: 7, count: size))
      #expect(try await peer.count(upTo: size) == size)
      #expect(await sent == size)
      client.finish()
      #expect(try await peer.receiveAll() == "")
    }
  }

  @Test("a tunnel lives as long as one side speaks, and ends when both are silent")
  func silence() async throws {
    let loop = NIOAsyncTestingEventLoop()
    let (client, origin) = (try await TestingStream(loop), try await TestingStream(loop))
    let tunnel = Task {
      await Tunnel.run(client: client.stream, origin: origin.stream, silence: .seconds(600))
    }
    for _ in 1...5 {
      await client.waitForReader()
      await origin.waitForReader()
      await loop.advanceTime(by: .seconds(400))
      try await origin.receive("abc")
      #expect(try await client.waitForBytes(3) == 3)
      #expect(!client.stream.isEnded)
    }
    await origin.waitForReader()
    await client.waitForReader()
    // The last bytes may be noted a moment after they were passed on.
    while !client.stream.isEnded, !Task.isCancelled {
      await loop.advanceTime(by: .seconds(601))
      await pause()
    }
    #expect(await tunnel.value == 15)
  }
}
