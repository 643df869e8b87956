import NIOCore
import NIOPosix
import Testing

@testable import HTTPCacheCommand

@Suite("The addresses of serve before it listens", .timeLimit(.minutes(10))) struct BoundSocketTests {
  @Test("no client can connect: nobody would answer it", arguments: ["127.0.0.1", "::1"])
  func refusesConnections(host: String) async throws {
    let listener = try await listen(host, port: 0)
    let port = try #require(listener.localAddress?.port)
    try await listener.close()
    let bound = try BoundSocket(ListenAddress(host: host, port: port))
    await #expect(throws: NIOConnectionError.self) {
      try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        .connect(host: host, port: port).get()
    }
    withExtendedLifetime(bound) {}
  }

  @Test("an address is free again afterwards, and in use beside a listener")
  func released() async throws {
    let listener = try await listen("127.0.0.1", port: 0)
    let address = ListenAddress(host: "127.0.0.1", port: try #require(listener.localAddress?.port))
    #expect(throws: IOError.self) { _ = try BoundSocket(address).address }
    try await listener.close()
    for _ in 0..<2 { #expect(try BoundSocket(address).address.port == address.port) }
    try await listen(address.host, port: address.port).close()
  }

  @Test(
    "two addresses overlap if one includes the other",
    arguments: [
      ("127.0.0.1", 80, "127.0.0.1", 80, true), ("127.0.0.1", 80, "127.0.0.1", 81, false),
      ("127.0.0.1", 0, "127.0.0.1", 0, false), ("127.0.0.1", 80, "127.0.0.2", 80, false),
      ("0.0.0.0", 80, "127.0.0.1", 80, true), ("::1", 80, "0.0.0.0", 80, false),
      ("::", 80, "127.0.0.1", 80, true),
    ])
  func overlaps(_ first: String, _ port: Int, _ second: String, _ otherPort: Int, _ expected: Bool) throws {
    let (one, other) = (
      try SocketAddress(ipAddress: first, port: port), try SocketAddress(ipAddress: second, port: otherPort)
    )
    #expect(one.overlaps(other) == expected && other.overlaps(one) == expected)
  }

  private func listen(_ host: String, port: Int) async throws -> any Channel {
    try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1).bind(host: host, port: port).get()
  }
}
