public import HTTPCaching
public import Logging
public import NIOCore
import NIOPosix
public import NIOSSL

/// A caching HTTP/1.1 proxy: one address, one cache, one way to origins.
public final class ProxyServer: Sendable {
  let listeners: Listeners
  private let context: ProxyContext

  private init(listeners: Listeners, context: ProxyContext) {
    self.listeners = listeners
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
    let notices = AcceptGate.Notices(logger: configuration.logger)
    let listeners = try await Listeners.open(
      host: configuration.host, port: configuration.port, group: group, notices: notices
    ) { bootstrap($0, pipeline, notices) }
    return ProxyServer(listeners: listeners, context: context)
  }

  private static func bootstrap(
    _ group: any EventLoopGroup, _ pipeline: ClientPipeline, _ notices: AcceptGate.Notices
  ) -> ServerBootstrap {
    ServerBootstrap.gated(group, backlog: 1024, notices)
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
  }

  /// The address to which clients connect.
  public var address: SocketAddress? { listeners.address }

  /// The port to which clients connect.
  public var port: Int? { address?.port }

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

  /// The routes of a gateway as they are now; empty for a forward proxy.
  package var routes: [GatewayRoute] {
    guard case .gateway(let routes) = context.mode else { return [] }
    return routes
  }

  /// Adds the finished requests and the connections since the server was started.
  public func addMetrics(to text: inout PrometheusText) {
    context.traffic.add(to: &text)
    text.add(
      "httpcache_connections", .gauge, help: "Open connections of clients.", value: Int64(connectionCount))
  }

  /// The requests since the server was started.
  public var totals: TrafficTotals { context.traffic.totals }

  /// The targets of most of the requests since the server was started that the cache could have answered, and did not,
  /// most requests first; about 256 for each event loop.
  public var missedTargets: [MissedTarget] { context.traffic.missedTargets }

  /// The requests that finish from now on. Of more than 1,000 that were not taken, the oldest are dropped.
  package func requests() -> AsyncStream<AccessLog.Entry> { context.feed.subscribe() }

  /// Stops listening, lets requests under way end until `deadline`, and flushes the store and the access log.
  public func shutDown(deadline: TimeAmount = .seconds(10)) async {
    await listeners.close()
    await context.registry.drain(until: .now() + deadline, on: listeners.eventLoop)
    context.upstream.shutDown()
    await context.cache.flush()
    await context.configuration.accessLog.flush()
  }
}

extension ProxyServer {
  /// Where requests go.
  public enum Mode: Sendable {
    /// Each request goes where the first route says that matches it (RFC 9110 §3.7, gateway).
    case gateway([GatewayRoute])
    /// Each request goes to the origin that it names (RFC 9110 §3.7, proxy).
    case forward(ForwardRules)
  }

  /// The settings of a server.
  public struct Configuration: Sendable {
    /// The host or address to listen on.
    public var host: String
    /// The port to listen on; 0 lets the system choose.
    public var port: Int
    /// Where requests go.
    public var mode: Mode
    /// The TLS configuration for clients; nil without TLS.
    public var tls: TLSConfiguration?
    /// Whether clients may speak HTTP/2 over TLS.
    public var isHTTP2 = true
    /// Whether clients may begin HTTP/2 without TLS, with prior knowledge (RFC 9113 §3.3).
    public var isHTTP2WithoutTLS = false
    /// The trusted proxies in front of this one. `X-Forwarded-*` and `Forwarded` of other clients are dropped.
    public var trustedForwarders: [AddressRange] = []
    /// The proxy's name in `Via`.
    public var name = "httpcache"
    /// The limits of request heads.
    public var limits = MessageLimits()
    /// Maximum number of clients' connections at a time, and of their exchanges.
    public var connectionLimit = 4096
    /// Maximum number of connections of one client at a time, and of its exchanges: requests that are not answered at
    /// once from memory, streams of HTTP/2 among them, and tunnels. A client is an IPv4 address, or the /64 of an IPv6
    /// address; `trustedForwarders` have no limit.
    public var connectionsPerClient = 256
    /// Whether `connectionsPerClient` applies to clients on this machine, such as a server in front of the proxy.
    public var limitsLoopback = false
    /// How long a connection may wait for its next request.
    public var idleTimeout = TimeAmount.seconds(75)
    /// Maximum time for a request's head, from its first byte.
    public var headTimeout = TimeAmount.seconds(20)
    /// Maximum time between two pieces of a request's body, and for a client to take 64 to 128 KiB of a response (up to
    /// 2 MiB after it took as much within 20 ms). The connection of a slower client is reset.
    public var bodyTimeout = TimeAmount.seconds(60)
    /// Maximum time in which no byte moves in either direction of a tunnel; nil is as long as both connections live.
    public var tunnelTimeout: TimeAmount?
    /// How long a request goes on after its client has ended its side of the connection, before the answer begins; nil is
    /// as long as it takes. The client may be gone, or wait for the answer. A request whose response other requests wait
    /// for goes on.
    public var abandonedTimeout: TimeAmount? = .seconds(30)
    /// Maximum number of bytes of answers from memory that are kept as the client gets them, for a second; 0 keeps none.
    public var preparedAnswers = 2 << 20
    /// The clients that may purge responses; with nil, `PURGE` and `BAN` go to the origin as other methods do.
    public var purgeRights: PurgeRights?
    /// How each request is logged.
    public var accessLog = AccessLog(.none)
    /// The logger for problems.
    public var logger = Logger(label: "httpcache")

    /// Makes a configuration with these defaults.
    public init(host: String, port: Int, mode: Mode) {
      self.host = host
      self.port = port
      self.mode = mode
    }
  }
}
