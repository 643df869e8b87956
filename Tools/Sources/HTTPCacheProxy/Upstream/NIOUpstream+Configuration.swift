public import NIOCore
public import NIOSSL

extension NIOUpstream {
  /// What is fixed when an upstream is made.
  public struct Configuration: Sendable {
    /// The most time for a connection to come about; never longer than `headTimeout`.
    public var connectTimeout: TimeAmount
    /// The most time from sending a request, its body included, to the end of the head of the final response.
    public var headTimeout: TimeAmount
    /// The most time between two pieces of a body, in either direction.
    public var bodyTimeout: TimeAmount
    /// How long an unused connection is kept.
    public var idleTimeout: TimeAmount
    /// How long to wait for `100 Continue` before the body is sent anyway (RFC 9110 §10.1.1).
    public var continueTimeout: TimeAmount
    /// The most connections to one origin at a time. Upgraded connections do not count, nor, when another request
    /// needs the place, connections that wait for a slow client.
    public var connectionsPerOrigin: Int
    /// How long a client may take to send 64 KiB of a request's body, or to take the next piece of a response's, before
    /// its exchange counts as waiting for a slow client.
    public var clientPatience = TimeAmount.milliseconds(250)
    /// The most unused connections kept in all.
    public var idleConnections: Int
    /// The limits of response heads.
    public var limits: MessageLimits
    /// How TLS is spoken with `https` origins.
    public var tls: TLSConfiguration
    /// The addresses that may be connected to; nil is every address.
    public var addresses: AddressRules?

    /// The HTTP proxy that every request of `send` goes to, in absolute form; nil sends each to its origin.
    public var proxy: Proxy?

    /// Makes a configuration: 10 s to connect, 60 s for a head, 60 s between pieces of a body, 30 s
    /// unused, 1 s for `100 Continue`, 128 connections to an origin, 256 unused ones.
    public init(
      connectTimeout: TimeAmount = .seconds(10), headTimeout: TimeAmount = .seconds(60),
      bodyTimeout: TimeAmount = .seconds(60), idleTimeout: TimeAmount = .seconds(30),
      continueTimeout: TimeAmount = .seconds(1), connectionsPerOrigin: Int = 128,
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
