public import HTTPCaching
import HTTPTypes
public import NIOCore
public import NIOSSL

/// An upstream over HTTP/1.1 or HTTP/2 on SwiftNIO that keeps connections open between requests.
public final class NIOUpstream: Upstream {
  let pool: ConnectionPool
  private let configuration: Configuration

  /// Makes an upstream.
  ///
  /// - Parameters:
  ///   - group: where connections run; it is not shut down with the upstream.
  ///   - configuration: times, bounds and TLS.
  /// - Throws: what NIOSSL says of the TLS configuration.
  public init(group: any EventLoopGroup, configuration: Configuration = Configuration()) throws {
    self.configuration = configuration
    pool = try ConnectionPool(group: group, configuration: configuration)
  }

  /// Maximum time that a request without a timeout waits for its response's head, or for another request's head.
  public var defaultTimeout: Duration? { Duration.nanoseconds(configuration.headTimeout.nanoseconds) }

  /// The number of open connections, and of idle ones among them.
  public var connectionCounts: (open: Int, idle: Int) { pool.counts }

  /// Closes idle connections at once, and all others when their exchanges end.
  public func shutDown() { pool.shutDown() }

  /// Sends a request and returns when the head of the final response has arrived.
  ///
  /// A request with an idempotent method and without a body uses an idle connection if there is one, or a stream of a
  /// connection over HTTP/2. If the origin closes that connection before the first byte of a response, or resets the
  /// stream, the request is sent once more over a new connection (RFC 9110 §9.2.2). Any other request gets a new
  /// connection. A new connection for one request speaks HTTP/1.1.
  ///
  /// A GET or HEAD whose response over HTTP/2 has lost octets is sent once more over HTTP/1.1, too.
  ///
  /// - Throws: `UpstreamError`.
  public func send(_ request: UpstreamRequest) async throws(UpstreamError) -> UpstreamResponse {
    let target = try Self.origin(request)
    let origin = configuration.proxy?.origin ?? target
    let deadline = deadline(request)
    if request.isRepeatable {
      let lease = try await pool.lease(origin, fresh: false, until: deadline)
      do {
        let response = try await exchange(request, lease, until: deadline)
        guard lease.http2 != nil, Self.hasLostOctets(response.head, to: request) else { return response }
        return try await repaired(response, to: request, from: origin, until: deadline)
      } catch let error where lease.isReused && error.cause is UpstreamExchange.ClosedBeforeResponse {
        // The origin closed the idle connection while the request was under way.
      }
    }
    let lease = try await pool.lease(origin, fresh: true, until: deadline)
    return try await exchange(request, lease, until: deadline)
  }

  /// Sends a request for an upgrade to another protocol over a new connection.
  ///
  /// - Returns: the response, and for a 101 the connection; give it back when the tunnel ends.
  /// - Throws: `UpstreamError`.
  func upgrade(
    _ request: UpstreamRequest, to protocols: String
  ) async throws(UpstreamError) -> (response: UpstreamResponse, tunnel: ConnectionLease?) {
    let deadline = deadline(request)
    let lease = try await pool.lease(try Self.origin(request), fresh: true, until: deadline)
    let exchange = UpstreamExchange(lease, pool: pool)
    let response = try await exchange.run(request, upgrade: protocols, until: deadline)
    guard response.head.status.code == 101 else { return (response, nil) }
    // A tunnel may last for days: it must not count against the connections for requests.
    pool.giveUpPlace(of: lease)
    return (response, lease)
  }

  /// Takes back the connection of an upgraded exchange.
  func release(_ tunnel: ConnectionLease) { pool.release(tunnel, isReusable: false) }

  /// Opens a connection for a tunnel; the caller closes it.
  ///
  /// - Throws: `UpstreamError`.
  func tunnel(to origin: Origin) async throws(UpstreamError) -> ByteStream {
    try await pool.connect(to: origin)
  }

  private func exchange(
    _ request: UpstreamRequest, _ lease: ConnectionLease, until deadline: NIODeadline
  ) async throws(UpstreamError) -> UpstreamResponse {
    try await UpstreamExchange(lease, pool: pool)
      .run(request, upgrade: nil, until: deadline)
  }

  /// Whether a value has lost octets: a redirect would lead to another resource, and be stored so. Only safe methods have
  /// the same answer again.
  private static func hasLostOctets(_ head: HTTPResponse, to request: UpstreamRequest) -> Bool {
    [.get, .head].contains(request.head.method) && head.headerFields.contains(where: \.hasLostOctets)
  }

  /// The response over HTTP/1.1 to the same request; the given one if there is none.
  private func repaired(
    _ response: UpstreamResponse, to request: UpstreamRequest, from origin: Origin,
    until deadline: NIODeadline
  ) async throws(UpstreamError) -> UpstreamResponse {
    var request = request
    // The interim responses have been passed on.
    request.onInterim = nil
    do throws(UpstreamError) {
      let lease = try await pool.lease(origin, fresh: true, until: deadline)
      let repaired = try await exchange(request, lease, until: deadline)
      response.body.source.cancel()
      return repaired
    } catch {
      guard error.kind == .cancelled else { return response }
      response.body.source.cancel()
      throw error
    }
  }

  private func deadline(_ request: UpstreamRequest) -> NIODeadline {
    guard let timeout = request.timeout else { return .now() + configuration.headTimeout }
    return .now() + TimeAmount(timeout)
  }

  /// The origin of a request: from its context, else from its target.
  private static func origin(_ request: UpstreamRequest) throws(UpstreamError) -> Origin {
    let context = request.upstreamContext
    if let address = context.address { return address }
    if let group = context.group, let first = group.order().first {
      return group.addresses[first]
    }
    guard let origin = Origin(scheme: request.head.scheme, authority: request.head.authority) else {
      throw UpstreamError(.unreachable, "no http or https origin in the request")
    }
    return origin
  }
}

extension NIOUpstream {
  /// The settings of an upstream.
  public struct Configuration: Sendable {
    /// Maximum time to open a connection; never longer than `headTimeout`.
    public var connectTimeout: TimeAmount
    /// Maximum time from the end of a sent request, its body included, to the end of the final response's head.
    public var headTimeout: TimeAmount
    /// Maximum time between two pieces of a body, in either direction; nil is as long as the connection lives.
    public var bodyTimeout: TimeAmount?
    /// Maximum time between two pieces of an event stream (`text/event-stream`); nil is as long as the connection lives.
    public var eventStreamTimeout: TimeAmount?
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
    /// Whether responses over HTTP/1.1 may have forms that a user agent takes, such as folded lines (RFC 9112 §5.2). A
    /// proxy between clients and origins must refuse them: two readers may read them in two ways.
    public var isLenient = false
    /// The TLS configuration for `https` origins.
    public var tls: TLSConfiguration
    /// Whether `https` origins may choose HTTP/2 for requests that may be repeated and have no body. Each other request
    /// goes over HTTP/1.1.
    public var offersHTTP2 = false
    /// The allowed addresses; nil allows every address.
    public var addresses: AddressRules?

    /// The HTTP proxy that every request of `send` goes to, in absolute form; nil sends each to its origin.
    public var proxy: Proxy?

    /// Makes a configuration: 10 s to connect, 60 s for a head, 10 min between pieces of a body, event streams
    /// without a limit, 30 s unused, 1 s for `100 Continue`, 1,024 connections to an origin, 256 unused ones.
    public init(
      connectTimeout: TimeAmount = .seconds(10), headTimeout: TimeAmount = .seconds(60),
      bodyTimeout: TimeAmount? = .minutes(10), idleTimeout: TimeAmount = .seconds(30),
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

    /// Maximum time in which an origin may be silent within a body; nil is as long as the connection lives.
    ///
    /// - Parameter fields: those of the response; nil while the request is sent.
    func silence(of request: UpstreamRequest, response fields: HTTPFields? = nil) -> TimeAmount? {
      if let limit = request.upstreamContext.silence { return limit.time }
      return fields.map(UpstreamResponse.isEventStream) ?? false ? eventStreamTimeout : bodyTimeout
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
