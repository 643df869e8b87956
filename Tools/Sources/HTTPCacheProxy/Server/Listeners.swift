import HTTPCacheLibC
import NIOCore
import NIOPosix

/// The listening sockets of a server, all with one address. On Linux each event loop has one of its own (`SO_REUSEPORT`),
/// so that it accepts the connections that it serves.
struct Listeners: Sendable {
  let first: Listener
  let others: [Listener]

  /// The number of listening sockets.
  var count: Int { others.count + 1 }

  /// The address of all of them.
  var address: SocketAddress { first.address }

  /// An event loop of the server.
  var eventLoop: any EventLoop { first.eventLoop }

  /// Begins to listen.
  ///
  /// - Parameters:
  ///   - port: 0 lets the system choose.
  ///   - notices: tells of a socket that NIO has closed and that cannot be opened again.
  ///   - bootstrap: makes the bootstrap of a listener for connections on one event loop, or on those of a group.
  /// - Throws: the system's error if it cannot listen; `SocketAddressError` for a host that does not resolve.
  static func open(
    host: String, port: Int, group: any EventLoopGroup, notices: AcceptGate.Notices,
    _ bootstrap: @escaping @Sendable (any EventLoopGroup) -> ServerBootstrap
  ) async throws -> Listeners {
    #if os(Linux)
      let loops = Array(group.makeIterator())
      if loops.count > 1 {
        let channel = try await bootstrap(loops[0]).bind(host: host, port: port).get()
        if let others = await share(channel, with: loops.dropFirst(), bootstrap) {
          return try Listeners(
            first: shared(channel, notices, bootstrap),
            others: others.map { try shared($0, notices, bootstrap) })
        }
        try await channel.close()
      }
    #endif
    let channel = try await bootstrap(group).bind(host: host, port: port).get()
    return Listeners(
      first: try Listener(channel, notices) { bootstrap(group).bind(to: $0) }, others: [])
  }

  #if os(Linux)
    private static let sharing = ChannelOptions.Types.SocketOption(
      level: .socket, name: .init(rawValue: SO_REUSEPORT))

    /// Opens a listener with the address of the first one on each other event loop. The first one gets the option after it
    /// was bound, so that a server whose address another process has fails to start.
    ///
    /// - Returns: nil if the system does not allow it.
    private static func share(
      _ first: any Channel, with loops: ArraySlice<any EventLoop>,
      _ bootstrap: @Sendable (any EventLoopGroup) -> ServerBootstrap
    ) async -> [any Channel]? {
      var others: [any Channel] = []
      do {
        try await first.setOption(sharing, value: 1).get()
        guard let address = first.localAddress else { return nil }
        for loop in loops {
          others.append(
            try await bootstrap(loop).serverChannelOption(sharing, value: 1).bind(to: address).get())
        }
        return others
      } catch {
        for listener in others { try? await listener.close() }
        return nil
      }
    }

    /// Watches one of several sockets. It is opened again with the option from the start: the others have its address.
    private static func shared(
      _ channel: any Channel, _ notices: AcceptGate.Notices,
      _ bootstrap: @escaping @Sendable (any EventLoopGroup) -> ServerBootstrap
    ) throws -> Listener {
      let loop = channel.eventLoop
      return try Listener(channel, notices) {
        bootstrap(loop).serverChannelOption(sharing, value: 1).bind(to: $0)
      }
    }
  #endif

  /// Ends listening.
  func close() async {
    for listener in [first] + others { await listener.close() }
  }
}

extension ServerBootstrap {
  /// Makes the bootstrap of a listener that pauses while it can accept nothing.
  static func gated(
    _ group: any EventLoopGroup, backlog: Int32, _ notices: AcceptGate.Notices
  ) -> ServerBootstrap {
    ServerBootstrap(group: group)
      .serverChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(AcceptGate(notices))
        }
      }
      .serverChannelOption(.backlog, value: backlog)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
  }
}
