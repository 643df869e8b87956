public import HTTPCaching
import Logging
public import NIOCore
import NIOPosix
public import NIOSSL

/// A caching HTTP/1.1 proxy: one listening socket, one cache, one way to origins.
public final class ProxyServer: Sendable {
  private let listener: any Channel
  private let context: ProxyContext

  private init(listener: any Channel, context: ProxyContext) {
    self.listener = listener
    self.context = context
  }

  /// Begins to listen.
  ///
  /// - Parameters:
  ///   - upstream: the connections to origins, also for tunnels.
  ///   - exchanges: where requests go instead, such as a recording.
  ///   - group: where connections run; it is not shut down with the server.
  /// - Throws: the system's error if it cannot listen, or NIOSSL's error if the TLS configuration is invalid.
  public static func start(
    _ configuration: Configuration, cache: HTTPCache, upstream: NIOUpstream,
    exchanges: (any Upstream)? = nil, group: any EventLoopGroup
  ) async throws -> ProxyServer {
    let context = ProxyContext(
      configuration: configuration, cache: cache, upstream: upstream, exchanges: exchanges,
      loops: Array(group.makeIterator()))
    try context.setTLS(configuration.tls)
    let pipeline = ClientPipeline(context: context)
    let listener = try await ServerBootstrap(group: group)
      .serverChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(AcceptGate(logger: configuration.logger))
        }
      }
      .serverChannelOption(.backlog, value: 1024)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelOption(.autoRead, value: false)
      .childChannelOption(.maxMessagesPerRead, value: 2)
      .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
      .childChannelOption(.writeBufferWaterMark, value: Connector.waterMark)
      // An idle connection keeps a buffer of the size of its last reads: small for requests without a body.
      .childChannelOption(
        .recvAllocator, value: AdaptiveRecvByteBufferAllocator(minimum: 512, initial: 1024, maximum: 64 << 10)
      )
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try pipeline.set(up: channel)
        }
      }
      .bind(host: configuration.host, port: configuration.port).get()
    return ProxyServer(listener: listener, context: context)
  }

  /// The address of the listener.
  public var address: SocketAddress? { listener.localAddress }

  /// The port of the listener.
  public var port: Int? { listener.localAddress?.port }

  /// The number of clients' connections.
  public var connectionCount: Int { context.registry.count }

  /// Returns the highest number of clients' connections since the last call.
  public func takeHighestConnectionCount() -> Int { context.registry.takeHighestCount() }

  /// Whether the server accepts requests: false while it shuts down.
  public var isAccepting: Bool { !context.registry.isDraining }

  /// Uses other certificates for new connections; those that are open keep theirs.
  ///
  /// - Parameter configuration: for a server that was started with TLS.
  /// - Throws: NIOSSL's error if it is invalid; the certificates stay as they were.
  public func setTLS(_ configuration: TLSConfiguration) throws { try context.setTLS(configuration) }

  /// Sends later requests to other origins. Answers from memory follow within a second.
  public func setMode(_ mode: Mode) { context.mode = mode }

  /// Adds the finished requests and the connections since the server was started.
  public func addMetrics(to text: inout PrometheusText) {
    context.traffic.add(to: &text)
    text.add(
      "httpcache_connections", .gauge, help: "Open connections of clients.", Int64(connectionCount))
  }

  /// The requests since the server was started.
  public var totals: TrafficTotals { context.traffic.totals }

  /// The most requested targets that were not answered from the cache since the server was started, most requests
  /// first; about 256 for each event loop.
  public var missedTargets: [MissedTarget] { context.traffic.missedTargets }

  /// The requests that finish from now on. Of more than 1,000 that were not taken, the oldest are dropped.
  public func requests() -> AsyncStream<FinishedRequest> { context.feed.subscribe() }

  /// Stops listening, lets requests under way end until `deadline`, and flushes the store and the access log.
  public func shutDown(deadline: TimeAmount = .seconds(10)) async {
    try? await listener.close()
    await context.registry.drain(until: .now() + deadline, on: listener.eventLoop)
    context.upstream.shutDown()
    await context.cache.flush()
    await context.configuration.accessLog.flush()
  }
}
