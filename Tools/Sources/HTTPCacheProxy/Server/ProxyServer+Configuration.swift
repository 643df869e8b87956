public import Logging
public import NIOCore
public import NIOSSL

extension ProxyServer {
  /// Where requests go.
  public enum Mode: Sendable {
    /// Each request goes where the first route says that matches it (RFC 9110 §3.7, gateway).
    case gateway([GatewayRoute])
    /// Each request goes to the origin that it names (RFC 9110 §3.7, proxy).
    case forward(ForwardRules)

    /// All requests go to one origin, below a path without a slash at its end.
    public static func reverse(_ origin: Origin, basePath: String, preservesHost: Bool = false) -> Mode {
      var route = GatewayRoute(to: OriginGroup(origin))
      route.basePath = basePath
      route.preservesHost = preservesHost
      return .gateway([route])
    }
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
    public var name: String
    /// The limits of request heads.
    public var limits: MessageLimits
    /// Maximum number of clients' connections at a time, and of their exchanges.
    public var connectionLimit: Int
    /// Maximum number of connections of one client at a time, and of its exchanges: requests that are not answered at
    /// once from memory, streams of HTTP/2 among them, and tunnels. A client is an IPv4 address, or the /64 of an IPv6
    /// address; `trustedForwarders` have no limit.
    public var connectionsPerClient = 256
    /// Whether `connectionsPerClient` applies to clients on this machine, such as a server in front of the proxy.
    public var limitsLoopback = false
    /// How long a connection may wait for its next request.
    public var idleTimeout: TimeAmount
    /// Maximum time for a request's head, from its first byte.
    public var headTimeout: TimeAmount
    /// Maximum time between two pieces of a request's body, and for a client to take 64 to 128 KiB of a response (up to
    /// 2 MiB after it took as much within 20 ms). The connection of a slower client is reset.
    public var bodyTimeout: TimeAmount
    /// Maximum time in which no byte moves in either direction of a tunnel.
    public var tunnelTimeout: TimeAmount
    /// Maximum number of bytes of answers from memory that are kept as the client gets them, for a second; 0 keeps none.
    public var preparedAnswers = 2 << 20
    /// The clients that may purge responses; with nil, `PURGE` and `BAN` go to the origin as other methods do.
    public var purgeRights: PurgeRights?
    /// How each request is logged.
    public var accessLog: AccessLog
    /// The logger for problems.
    public var logger: Logger

    /// Makes a configuration: 75 s between requests, 20 s for a head, 60 s for a piece of a body,
    /// 10 min of silence in a tunnel, 4096 connections.
    public init(
      host: String, port: Int, mode: Mode, tls: TLSConfiguration? = nil, name: String = "httpcache",
      limits: MessageLimits = MessageLimits(), connectionLimit: Int = 4096,
      idleTimeout: TimeAmount = .seconds(75), headTimeout: TimeAmount = .seconds(20),
      bodyTimeout: TimeAmount = .seconds(60), tunnelTimeout: TimeAmount = .minutes(10),
      accessLog: AccessLog = AccessLog(.none), logger: Logger = Logger(label: "httpcache")
    ) {
      self.host = host
      self.port = port
      self.mode = mode
      self.tls = tls
      self.name = name
      self.limits = limits
      self.connectionLimit = connectionLimit
      self.idleTimeout = idleTimeout
      self.headTimeout = headTimeout
      self.bodyTimeout = bodyTimeout
      self.tunnelTimeout = tunnelTimeout
      self.accessLog = accessLog
      self.logger = logger
    }
  }
}
