public import Logging
public import NIOCore
import NIOHTTP1
import NIOPosix

/// A listener for metrics, health checks and purges, apart from the clients of the proxy.
public final class AdminServer: Sendable {
  /// One client leaves places for others.
  private static let limits = ConnectionRegistry.Limits(all: 128, ofClient: 64, includesLoopback: true)

  let listener: Listener
  private let registry: ConnectionRegistry

  private init(listener: Listener, registry: ConnectionRegistry) {
    self.listener = listener
    self.registry = registry
  }

  /// Begins to listen.
  ///
  /// - Parameters:
  ///   - host: the host or address.
  ///   - port: the port; 0 lets the system choose.
  ///   - access: which requests are answered.
  ///   - group: where connections run; it is not shut down with the server.
  ///   - logger: the logger for problems, for requests to change something, and for requests that `access` refuses.
  ///   - answer: answers the requests that `access` allows.
  /// - Throws: the system's error if it cannot listen.
  public static func start(
    host: String, port: Int, access: AdminAccess, group: any EventLoopGroup,
    logger: Logger = Logger(label: "httpcache"),
    answer: @escaping @Sendable (AdminRequest) async -> AdminResponse
  ) async throws -> AdminServer {
    let registry = ConnectionRegistry(limits)
    let notices = AcceptGate.Notices(logger: logger)
    let refusals = MessageLimit()
    let bootstrap: @Sendable () -> ServerBootstrap = {
      ServerBootstrap.gated(group, backlog: 64, notices)
        .childChannelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            guard isAdmitted(channel, by: registry) else { return channel.close(promise: nil) }
            try channel.pipeline.syncOperations.addHandler(EventOrder())
            try channel.pipeline.syncOperations.configureHTTPServerPipeline(withErrorHandling: false)
            try channel.pipeline.syncOperations.addHandler(
              AdminHandler(
                access: access, registry: registry, logger: logger, refusals: refusals, answer: answer))
          }
        }
    }
    let channel = try await bootstrap().bind(host: host, port: port).get()
    return AdminServer(
      listener: try Listener(channel, notices) { bootstrap().bind(to: $0) }, registry: registry)
  }

  /// Whether a connection is one of those that are served at the same time.
  private static func isAdmitted(_ channel: any Channel, by registry: ConnectionRegistry) -> Bool {
    switch registry.admit(channel) {
    case .admitted:
      channel.closeFuture.whenComplete { _ in registry.closed(channel) }
      return true
    case .refused:
      registry.endRefusal()
      return false
    case .ignored: return false
    }
  }

  /// The port of the listener.
  public var port: Int? { listener.address.port }

  /// Stops listening, and frees the port. Requests on open connections are still answered.
  public func shutDown() async { await listener.close() }

  /// Closes the open connections: those with an answer that is being made after the answer, or at `deadline`. An answer
  /// that is sent as it comes is cut.
  package func finish(until deadline: NIODeadline) async {
    await registry.drain(until: deadline, on: listener.eventLoop)
  }
}
