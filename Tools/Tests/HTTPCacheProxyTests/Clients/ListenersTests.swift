import HTTPCaching
import NIOCore
import NIOPosix
import ServerTesting
import Testing

@testable import HTTPCacheProxy

@Suite("The listening sockets of a server", .timeLimit(.minutes(10))) struct ListenersTests {
  private func withServer(
    loops: Int, configure: (inout ProxyServer.Configuration) -> Void = { _ in },
    _ body: (ProxyServer, any EventLoopGroup) async throws -> Void
  ) async throws {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: loops)
    let server = try await server(on: group, configure)
    do {
      try await body(server, group)
    } catch {
      await server.shutDown(deadline: .zero)
      throw error
    }
    await server.shutDown(deadline: .zero)
    try await group.shutdownGracefully()
  }

  private func server(
    on group: any EventLoopGroup, port: Int = 0, _ configure: (inout ProxyServer.Configuration) -> Void
  ) async throws -> ProxyServer {
    var configuration = ProxyServer.Configuration(
      host: "127.0.0.1", port: port,
      mode: .reverse(Origin(isSecure: false, host: "127.0.0.1", port: 1), basePath: ""))
    configure(&configuration)
    return try await ProxyServer.start(
      configuration, cache: storelessCache(), upstream: try NIOUpstream(group: group, configuration: .init()),
      group: group)
  }

  @Test("each event loop has one on Linux, and all connections are served and counted", arguments: [1, 4])
  func each(loops: Int) async throws {
    try await withServer(loops: loops) { server, _ in
      #if os(Linux)
        #expect(server.listeners.count == loops)
      #endif
      let clients = try (0..<40).map { _ in try RawPeer.connect(server.port ?? 0) }
      for client in clients {
        client.send("OPTIONS * HTTP/1.1\r\nHost: h\r\nMax-Forwards: 0\r\n\r\n")
        #expect(try await client.receiveHead().hasPrefix("HTTP/1.1 200 "))
      }
      #expect(server.connectionCount == 40)
      for client in clients { client.end() }
    }
  }

  @Test("the limits of connections are those of the server, whichever of them accepts")
  func limits() async throws {
    try await withServer(loops: 4, configure: { $0.connectionLimit = 3 }) { server, _ in
      var served = 0
      var clients: [RawPeer] = []
      for _ in 0..<12 {
        let client = try RawPeer.connect(server.port ?? 0)
        client.send("OPTIONS * HTTP/1.1\r\nHost: h\r\nMax-Forwards: 0\r\n\r\n")
        if try await client.receiveHead().hasPrefix("HTTP/1.1 200 ") { served += 1 }
        clients.append(client)
      }
      #expect(served == 3)
      for client in clients { client.end() }
    }
  }

  @Test("those that NIO has closed are opened again, with their address", arguments: [1, 4])
  func openedAgain(loops: Int) async throws {
    try await withServer(loops: loops) { server, _ in
      let listeners = [server.listeners.first] + server.listeners.others
      for listener in listeners { try await listener.channel.close() }
      try await eventually { listeners.allSatisfy { $0.channel.isActive } }
      for _ in 0..<8 {
        let client = try RawPeer.connect(server.port ?? 0)
        client.send("OPTIONS * HTTP/1.1\r\nHost: h\r\nMax-Forwards: 0\r\n\r\n")
        #expect(try await client.receiveHead().hasPrefix("HTTP/1.1 200 "))
      }
    }
  }

  @Test("an address that another server has is in use; it is free when that one has ended")
  func inUse() async throws {
    let group = MultiThreadedEventLoopGroup.singleton
    var port = 0
    try await withServer(loops: 3) { first, _ in
      port = first.port ?? 0
      let error = await #expect(throws: IOError.self) { _ = try await server(on: group, port: port) { _ in } }
      #expect(error?.errnoCode == EADDRINUSE)
    }
    let second = try await server(on: group, port: port) { _ in }
    #expect(second.port == port)
    await second.shutDown(deadline: .zero)
  }
}
