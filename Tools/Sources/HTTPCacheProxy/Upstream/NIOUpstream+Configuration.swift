public import NIOCore
public import NIOSSL

extension NIOUpstream {
  /// The settings of an upstream.
  public struct Configuration: Sendable {
    /// Maximum time to open a connection; never longer than `headTimeout`.
    public var connectTimeout: TimeAmount
    /// Maximum time from the end of a sent request, its body included, to the end of the final response's head.
    public var headTimeout: TimeAmount
    /// Maximum time between two pieces of a body, in either direction.
    public var bodyTimeout: TimeAmount
    /// How long an unused connection is kept.
    public var idleTimeout: TimeAmount
    /// How long to wait for `100 Continue` before the body is sent anyway (RFC 9110 §10.1.1).
    public var continueTimeout: TimeAmount
    /// Maximum number of connections to one origin at a time. Upgraded connections do not count. Connections that wait
    /// for a slow client do not count if another request needs their place.
    public var connectionsPerOrigin: Int
    /// How long a client may take to send 64 KiB of a request's body, or to take the next piece of a response's, before
    /// its exchange counts as waiting for a slow client.
    public var clientPatience = TimeAmount.milliseconds(250)
    /// Maximum number of unused connections in all.
    public var idleConnections: Int
    /// The limits of response heads.
    public var limits: MessageLimits
    /// The TLS configuration for `https` origins.
    public var tls: TLSConfiguration
    /// Whether `https` origins may choose HTTP/2 for requests that may be repeated and have no body. Each other request
    /// goes over HTTP/1.1.
    public var offersHTTP2 = false
    /// The allowed addresses; nil allows every address.
    public var addresses: AddressRules?

    /// The HTTP proxy that every request of `send` goes to, in absolute form; nil sends each to its origin.
    public var proxy: Proxy?

    /// Makes a configuration: 10 s to connect, 60 s for a head, 60 s between pieces of a body, 30 s
    /// unused, 1 s for `100 Continue`, 1,024 connections to an origin, 256 unused ones.
    public init(
      connectTimeout: TimeAmount = .seconds(10), headTimeout: TimeAmount = .seconds(60),
      bodyTimeout: TimeAmount = .seconds(60), idleTimeout: TimeAmount = .seconds(30),
      continueTimeout: TimeAmount = .seconds(1), connectionsPerOrigin: Int = 1_024,
      idleConnections: Int = 256, limits: MessageLimits = MessageLimits(),
      tls: TLSConfiguration = .makeClientConfiguration()
    ) {
      self.connectTimeout = connectTimeout
      self.headTimeout = headTimeout
      self.bodyTimeout = bodyTimeout
      self.idleTimeout = idleTimeout
      self.continueTimeout = continueTimeout
      self.connectionsPerOrigin = connectionsPerOrigin
      self.idleConnections = idleConnections
      self.limits = limits
      self.tls = tls
    }
  }

  /// An HTTP proxy for requests.
  public struct Proxy: Sendable {
    /// Where the proxy listens.
    public var origin: Origin
    /// The value of `Proxy-Authorization` (RFC 9110 §11.7.2); nil sends none.
    public var authorization: String?

    /// Makes a proxy.
    public init(origin: Origin, authorization: String? = nil) {
      self.origin = origin
      self.authorization = authorization
    }
  }
}
