import NIOCore
import NIOPosix

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The listening sockets of a server, all with one address. On Linux each event loop has one of its own (`SO_REUSEPORT`),
/// so that it accepts the connections that it serves.
struct Listeners: Sendable {
  private let first: any Channel
  private let others: [any Channel]

  /// The number of listening sockets.
  var count: Int { others.count + 1 }

  /// The address of all of them.
  var address: SocketAddress? { first.localAddress }

  /// An event loop of the server.
  var eventLoop: any EventLoop { first.eventLoop }

  /// Begins to listen.
  ///
  /// - Parameters:
  ///   - port: 0 lets the system choose.
  ///   - bootstrap: makes the bootstrap of a listener for connections on one event loop, or on those of a group.
  /// - Throws: the system's error if it cannot listen; `SocketAddressError` for a host that does not resolve.
  static func open(
    host: String, port: Int, group: any EventLoopGroup,
    _ bootstrap: @Sendable (any EventLoopGroup) -> ServerBootstrap
  ) async throws -> Listeners {
    #if os(Linux)
      let loops = Array(group.makeIterator())
      if loops.count > 1 {
        let first = try await bootstrap(loops[0]).bind(host: host, port: port).get()
        if let others = await share(first, with: loops.dropFirst(), bootstrap) {
          return Listeners(first: first, others: others)
        }
        try await first.close()
      }
    #endif
    return Listeners(first: try await bootstrap(group).bind(host: host, port: port).get(), others: [])
  }

  #if os(Linux)
    /// Opens a listener with the address of the first one on each other event loop. The first one gets the option after it
    /// was bound, so that a server whose address another process has fails to start.
    ///
    /// - Returns: nil if the system does not allow it.
    private static func share(
      _ first: any Channel, with loops: ArraySlice<any EventLoop>,
      _ bootstrap: @Sendable (any EventLoopGroup) -> ServerBootstrap
    ) async -> [any Channel]? {
      let option = ChannelOptions.Types.SocketOption(level: .socket, name: .init(rawValue: SO_REUSEPORT))
      var others: [any Channel] = []
      do {
        try await first.setOption(option, value: 1).get()
        guard let address = first.localAddress else { return nil }
        for loop in loops {
          others.append(
            try await bootstrap(loop).serverChannelOption(option, value: 1).bind(to: address).get())
        }
        return others
      } catch {
        for listener in others { try? await listener.close() }
        return nil
      }
    }
  #endif

  /// Ends listening.
  func close() async {
    for listener in [first] + others { try? await listener.close() }
  }
}
