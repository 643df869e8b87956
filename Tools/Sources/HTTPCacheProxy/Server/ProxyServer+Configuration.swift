public import Logging
public import NIOCore
public import NIOSSL

extension ProxyServer {
  /// Where requests go.
  public enum Mode: Sendable, Hashable {
    /// All to one origin, under a path; the client need not know (RFC 9110 §3.7, gateway).
    case reverse(Origin, basePath: String)
    /// To the origin that each request names (RFC 9110 §3.7, proxy).
    case forward(ForwardRules)
  }

  /// Everything that is fixed when a server is made.
  public struct Configuration: Sendable {
    /// The host or address to listen on.
    public var host: String
    /// The port to listen on; 0 lets the system choose.
    public var port: Int
    /// Where requests go.
    public var mode: Mode
    /// How TLS is spoken with clients; nil is not at all.
    public var tls: TLSConfiguration?
    /// Whether a gateway passes the client's `Host` on to its origin, instead of the origin's own name.
    public var preservesHost = false
    /// The proxies in front of this one whose `X-Forwarded-*` and `Forwarded` count; a client's own are dropped.
    public var trustedForwarders: [AddressRange] = []
    /// The proxy's name in `Via`.
    public var name: String
    /// The limits of request heads.
    public var limits: MessageLimits
    /// The most connections of clients at a time.
    public var connectionLimit: Int
    /// The most connections of one client at a time, tunnels included: of an IPv4 address, or of the /64 of an IPv6
    /// address.
    public var connectionsPerClient = 256
    /// Whether `connectionsPerClient` holds for clients on this machine, such as a server in front of the proxy.
    public var limitsLoopback = false
    /// How long a connection may wait for its next request.
    public var idleTimeout: TimeAmount
    /// How long a request's head may take from its first byte.
    public var headTimeout: TimeAmount
    /// The most time between two pieces of a request's body, and for a client to take 64 to 128 KiB of a response: a
    /// client that takes less in that time is cut off.
    public var bodyTimeout: TimeAmount
    /// How long both directions of a tunnel may be silent at the same time.
    public var tunnelTimeout: TimeAmount
    /// How each request is logged.
    public var accessLog: AccessLog
    /// Where troubles are logged.
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
