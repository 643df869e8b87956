import ServerTesting
import Testing

@testable import HTTPCacheProxy

@Suite("Connections of one client", .timeLimit(.minutes(10))) struct ClientLimitTests {
  private let get = "GET / HTTP/1.1\r\nHost: h\r\n\r\n"

  private func client(_ address: String) throws -> ClientAddress {
    ClientAddress(try #require(IPAddress(address)))
  }

  @Test("a client with too many connections, tunnels among them, is told so until one of them ends")
  func limit() async throws {
    try await withProxy(configure: {
      $0.connectionsPerClient = 1
      $0.limitsLoopback = true
    }) { proxy in
      let (first, peer, _) = try await proxy.open(
        "GET / HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
      peer.send("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
      _ = try await first.receiveHead()
      let refused = try await proxy.connect().receiveAll()
      #expect(refused.hasPrefix("HTTP/1.1 429 "))
      #expect(field("Connection", in: refused) == "close")
      first.end()
      #expect(try await peer.receiveAll() == "")
      peer.end()
      try await eventually { proxy.server.connectionCount == 0 }
      #expect(proxy.server.takeHighestConnectionCount() == 1)
      #expect(proxy.server.takeHighestConnectionCount() == 0)
      let (second, other, _) = try await proxy.open(get)
      try await other.answerNoContent(to: second)
    }
  }

  /// Checks that three clients at once are answered.
  private func expectThreeServed(_ proxy: RunningProxy) async throws {
    for client in try (1...3).map({ _ in try proxy.connect() }) {
      client.send(get)
      let (peer, _) = try await proxy.origin.acceptRequest()
      peer.send("HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
      #expect(try await client.receiveHead().hasPrefix("HTTP/1.1 204 "))
    }
  }

  @Test("clients on this machine are not limited unless the configuration says so")
  func loopback() async throws {
    try await withProxy(configure: { $0.connectionsPerClient = 1 }) { proxy in
      try await expectThreeServed(proxy)
    }
  }

  @Test("a trusted proxy is not limited: its connections are those of many clients")
  func trustedForwarder() async throws {
    let loopback = try #require(AddressRange("127.0.0.0/8"))
    try await withProxy(configure: {
      $0.connectionsPerClient = 1
      $0.limitsLoopback = true
      $0.trustedForwarders = [loopback]
    }) { proxy in
      try await expectThreeServed(proxy)
    }
  }

  @Test("a client is an IPv4 address, also where IPv6 carries it, or the /64 of an IPv6 address")
  func addresses() throws {
    #expect(try client("192.0.2.1") == client("::ffff:192.0.2.1"))
    #expect(try client("192.0.2.1") != client("192.0.2.2"))
    #expect(try client("2001:db8::1") == client("2001:db8::ffff:1"))
    #expect(try client("2001:db8::1") != client("2001:db8:0:1::1"))
    for address in ["127.0.0.1", "127.1.2.3", "::1", "::ffff:127.0.0.1"] {
      #expect(try client(address).isLoopback == true)
    }
    for address in ["192.0.2.1", "2001:db8::1", "::2"] {
      #expect(try client(address).isLoopback == false)
    }
  }
}
