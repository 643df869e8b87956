public import HTTPCaching
import HTTPTypes
public import Logging
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

  /// Closes idle connections at once, and all others when their requests end.
  public func shutDown() { pool.shutDown() }

  /// Sends a request and returns when the head of the final response has arrived.
  ///
  /// A request with an idempotent method and without a body uses an idle connection if there is one, or a stream of a
  /// connection over HTTP/2. If the origin closes that connection before the first byte of a response, or resets the
  /// stream, the request is sent once more over a new connection (RFC 9110 §9.2.2). Any other request uses an idle
  /// connection over HTTP/1.1 that the origin is not about to close (`LoopConnections.takeRecent`), and is sent again
  /// only if that has ended before the request was sent; else it gets a new connection. A new connection for one request
  /// speaks HTTP/1.1.
  ///
  /// A GET or HEAD whose response over HTTP/2 has lost octets is sent once more over HTTP/1.1, too.
  ///
  /// If the context of a request names a group of addresses (`UpstreamContext`), the request goes to one of them. A
  /// request with an idempotent method and without a body goes to the next address if one cannot be reached or does not
  /// answer; any other only if no connection was made.
  ///
  /// - Throws: `UpstreamError`, of the last address.
  public func send(_ request: UpstreamRequest) async throws(UpstreamError) -> UpstreamResponse {
    try await answer(request, upgrade: nil).response
  }

  /// Sends a request as `send` does, or a request for an upgrade to another protocol over a new connection.
  ///
  /// - Parameter protocols: the protocols to request; nil for no upgrade.
  /// - Returns: the response, and for a 101 the connection; give it back when the tunnel ends.
  /// - Throws: `UpstreamError`, of the last address.
  func answer(
    _ request: UpstreamRequest, upgrade protocols: String?
  ) async throws(UpstreamError) -> (response: UpstreamResponse, tunnel: ConnectionLease?) {
    guard let group = request.upstreamContext.group else {
      return try await answer(request, upgrade: protocols, at: Self.origin(request))
    }
    var failure = UpstreamError(.unreachable, "\(group.origin) has no address")
    for index in group.order() {
      do throws(UpstreamError) {
        let result = try await answer(request, upgrade: protocols, at: group.addresses[index])
        group.succeeded(index)
        return result
      } catch {
        if error.kind == .cancelled { throw error }
        let isLeftOut = group.failed(index)
        if group.addresses.count > 1 { note(error, at: group.addresses[index], isLeftOut: isLeftOut) }
        let isConnected = error.kind != .unreachable || error.cause is RequestAttempt.ClosedBeforeResponse
        guard request.isRepeatable || !isConnected else { throw error }
        failure = error
      }
    }
    throw failure
  }

  /// Tells of an address of a group that failed: the next address may answer, and hide the failure from the cache.
  private func note(_ error: UpstreamError, at address: Origin, isLeftOut: Bool) {
    configuration.addressFailed?(address)
    if isLeftOut {
      configuration.logger.warning("\(address) is left out for now: \(error.message)")
    } else {
      configuration.logger.info("\(address) failed: \(error.message)")
    }
  }

  private func answer(
    _ request: UpstreamRequest, upgrade protocols: String?, at address: Origin
  ) async throws(UpstreamError) -> (response: UpstreamResponse, tunnel: ConnectionLease?) {
    let origin = configuration.proxy?.origin ?? address
    let deadline = deadline(request)
    if protocols == nil {
      let lease = try await pool.lease(origin, request.isRepeatable ? .any : .recent, until: deadline)
      do {
        let response = try await RequestAttempt(lease, pool: pool).run(request, until: deadline)
        guard lease.http2 != nil, Self.hasLostOctets(response.head, to: request) else {
          return (response, nil)
        }
        return (try await repaired(response, to: request, from: origin, until: deadline), nil)
      } catch {
        // The origin closed the idle connection while the request was under way, or before.
        guard lease.isReused, let closed = error.cause as? RequestAttempt.ClosedBeforeResponse,
          request.isRepeatable || !closed.isSent
        else { throw error }
      }
    }
    let lease = try await pool.lease(origin, .new, until: deadline)
    let response = try await RequestAttempt(lease, pool: pool)
      .run(request, upgrade: protocols, until: deadline)
    guard response.head.status.code == 101 else { return (response, nil) }
    // A tunnel may last for days: it must not count against the connections for requests.
    pool.giveUpPlace(of: lease)
    return (response, lease)
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
      let lease = try await pool.lease(origin, .new, until: deadline)
      let repaired = try await RequestAttempt(lease, pool: pool).run(request, until: deadline)
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

  /// The origin of the target.
  private static func origin(_ request: UpstreamRequest) throws(UpstreamError) -> Origin {
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
    public var connectTimeout = TimeAmount.seconds(10)
    /// Maximum time from the end of a sent request, its body included, to the end of the final response's head.
    public var headTimeout = TimeAmount.seconds(60)
    /// Maximum time between two pieces of a body, in either direction; nil is as long as the connection lives.
    public var bodyTimeout: TimeAmount? = .minutes(10)
    /// Maximum time between two pieces of an event stream (`text/event-stream`); nil is as long as the connection lives.
    public var eventStreamTimeout: TimeAmount?
    /// How long an unused connection is kept.
    public var idleTimeout = TimeAmount.seconds(30)
    /// How long to wait for `100 Continue` before the body is sent anyway (RFC 9110 §10.1.1).
    public var continueTimeout = TimeAmount.seconds(1)
    /// Maximum number of connections to one origin at a time. Upgraded connections do not count. Connections that wait
    /// for a slow client do not count if another request needs their place.
    public var connectionsPerOrigin = 1_024
    /// How long a client may take to send 64 KiB of a request's body, or to take the next piece of a response's, before
    /// its request counts as waiting for a slow client.
    public var clientPatience = TimeAmount.milliseconds(250)
    /// Maximum number of unused connections in all.
    public var idleConnections = 256
    /// The limits of response heads.
    public var limits = MessageLimits()
    /// Whether responses over HTTP/1.1 may have forms that a user agent takes, such as folded lines (RFC 9112 §5.2). A
    /// proxy between clients and origins must refuse them: two readers may read them in two ways.
    public var isLenient = false
    /// The TLS configuration for `https` origins.
    public var tls = TLSConfiguration.makeClientConfiguration()
    /// Whether `https` origins may choose HTTP/2 for requests that may be repeated and have no body. Each other request
    /// goes over HTTP/1.1.
    public var offersHTTP2 = false
    /// The allowed addresses; nil allows every address.
    public var addresses: AddressRules?
    /// The logger for addresses of a group that fail.
    public var logger = Logger(label: "httpcache")
    /// Called with each address of a group that a request found failing; nil for nothing.
    package var addressFailed: (@Sendable (_ address: Origin) -> Void)?

    /// The HTTP proxy that every request of `send` goes to, in absolute form; nil sends each to its origin.
    public var proxy: Proxy?

    /// Makes a configuration with these defaults.
    public init() {}

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
