import HTTPCacheLibC
import HTTPCaching
import NIOCore
import NIOPosix
import NIOSSL
import NIOTLS

/// Opens connections.
struct Connector: Sendable {
  /// Maximum time for a peer to confirm the end of TLS. Its answer says nothing new, and the end of the process waits.
  static let closePatience = TimeAmount.milliseconds(500)

  private let group: any EventLoopGroup
  private let timeout: TimeAmount
  private let context: NIOSSLContext
  /// Offers HTTP/2 too.
  private let choice: NIOSSLContext
  private let addresses: AddressRules?
  private let limits: MessageLimits
  private let idleTimeout: TimeAmount

  /// A connection of the version that the origin has chosen.
  enum Connection: Sendable {
    case http1(ByteStream)
    case http2(HTTP2OriginConnection)
  }

  /// - Throws: what NIOSSL says of the TLS configuration.
  init(
    group: any EventLoopGroup, timeout: TimeAmount, tls: TLSConfiguration, addresses: AddressRules? = nil,
    limits: MessageLimits = MessageLimits(), idleTimeout: TimeAmount = .seconds(30)
  ) throws {
    self.limits = limits
    self.idleTimeout = idleTimeout
    self.group = group
    self.timeout = timeout
    self.addresses = addresses
    var tls = tls
    tls.restrict()
    tls.shutdownTimeout = Self.closePatience
    tls.applicationProtocols = ["http/1.1"]
    context = try NIOSSLContext(configuration: tls)
    tls.applicationProtocols = ["h2", "http/1.1"]
    choice = try NIOSSLContext(configuration: tls)
    if addresses != nil { CheckedResolver.start() }
  }

  /// Connects. With TLS, returns before the end of the handshake; the first bytes wait for it.
  ///
  /// - Parameter deadline: the latest time, if earlier than the timeout.
  /// - Throws: `UpstreamError`.
  func connect(to origin: Origin, until deadline: NIODeadline = .distantFuture) async throws(UpstreamError)
    -> ByteStream
  {
    let context = origin.isSecure ? context : nil
    do {
      return try await bootstrap(until: deadline).connect(host: origin.host, port: origin.port) { channel in
        channel.eventLoop.makeCompletedFuture {
          if let context { try Self.addTLS(context, to: channel, origin) }
          return try Self.addStream(to: channel)
        }
      }
    } catch {
      throw Self.upstreamError(error, origin)
    }
  }

  /// Connects with TLS, and returns after the handshake, in which the origin chooses HTTP/2 or HTTP/1.1 (RFC 7301).
  ///
  /// - Throws: `UpstreamError`.
  func negotiate(with origin: Origin, until deadline: NIODeadline) async throws(UpstreamError) -> Connection {
    do {
      let (channel, promise) = try await bootstrap(until: deadline).channelOption(.autoRead, value: true)
        .connect(host: origin.host, port: origin.port) { channel in
          channel.eventLoop.makeCompletedFuture { try addChoice(to: channel, origin) }
        }
      let timer = channel.eventLoop.scheduleTask(deadline: deadline) {
        promise.fail(ChannelError.connectTimeout(.zero))
        channel.close(promise: nil)
      }
      defer { timer.cancel() }
      return try await promise.futureResult.get()
    } catch {
      throw Self.upstreamError(error, origin)
    }
  }

  /// Adds the handlers that wait for the choice of the origin.
  private func addChoice(
    to channel: any Channel, _ origin: Origin
  ) throws -> (any Channel, EventLoopPromise<Connection>) {
    try Self.addTLS(choice, to: channel, origin)
    let choosing = NIOTypedApplicationProtocolNegotiationHandler<Connection> { result, channel in
      channel.eventLoop.makeCompletedFuture {
        try connection(on: channel, isHTTP2: result == .negotiated("h2"))
      }
    }
    let promise = channel.eventLoop.makePromise(of: Connection.self)
    let handlers: [any ChannelHandler] = [HandshakeFailureHandler(promise), choosing]
    do {
      try channel.pipeline.syncOperations.addHandlers(handlers)
    } catch {
      // NIO ends a process of a debug build that forgets a promise.
      promise.fail(error)
      throw error
    }
    choosing.protocolNegotiationResult.cascade(to: promise)
    return (channel, promise)
  }

  private func connection(on channel: any Channel, isHTTP2: Bool) throws -> Connection {
    if isHTTP2 {
      return .http2(try HTTP2OriginConnection(channel, limits: limits, idleTimeout: idleTimeout))
    }
    try channel.syncOptions?.setOption(.autoRead, value: false)
    return .http1(try Self.addStream(to: channel))
  }

  private func bootstrap(until deadline: NIODeadline) -> ClientBootstrap {
    let loop = MultiThreadedEventLoopGroup.currentEventLoop ?? group.next()
    return ClientBootstrap(group: loop)
      .connectTimeout(min(timeout, max(.nanoseconds(1), deadline - .now())))
      .resolver(addresses.map { CheckedResolver($0, on: loop) })
      .channelOption(.autoRead, value: false)
      .channelOption(.allowRemoteHalfClosure, value: true)
      .channelOption(.maxMessagesPerRead, value: 2)
      .channelOption(.tcpOption(.tcp_nodelay), value: 1)
      .channelOption(.writeBufferWaterMark, value: Self.waterMark)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          KeepAlive.enable(on: channel)
          try channel.pipeline.syncOperations.addHandler(EventOrder())
        }
      }
  }

  private static func addTLS(_ context: NIOSSLContext, to channel: any Channel, _ origin: Origin) throws {
    try channel.pipeline.syncOperations.addHandler(
      NIOSSLClientHandler(context: context, serverHostname: serverName(origin.host)))
  }

  private static func addStream(to channel: any Channel) throws -> ByteStream {
    let stream = ByteStream(channel: channel)
    try channel.pipeline.syncOperations.addHandler(ByteStreamHandler(stream))
    return stream
  }

  static let waterMark = ChannelOptions.Types.WriteBufferWaterMark(low: 32 << 10, high: 64 << 10)

  /// Addresses are not sent as server names (RFC 6066 §3).
  private static func serverName(_ host: String) -> String? {
    (try? SocketAddress(ipAddress: host, port: 0)) == nil ? host : nil
  }

  private static func upstreamError(_ error: any Error, _ origin: Origin) -> UpstreamError {
    switch error {
    case ChannelError.connectTimeout:
      return UpstreamError(.timeout, "no connection to \(origin) in time", cause: error)
    case is NIOSSLError, is NIOSSLExtraError, is BoringSSLError:
      return UpstreamError(.tls, "TLS with \(origin) failed: \(HandshakeFailure.text(error))", cause: error)
    case is CancellationError:
      return UpstreamError(.cancelled, "cancelled", cause: error)
    case let error as NIOConnectionError where error.dnsAAAAError is ForbiddenAddress:
      return UpstreamError(
        .unreachable, "no connection to \(origin): \(reason(error))", cause: error.dnsAAAAError)
    case let error as NIOConnectionError:
      let timedOut = error.connectionErrors.contains {
        if case ChannelError.connectTimeout = $0.error { true } else { false }
      }
      return UpstreamError(
        timedOut ? .timeout : .unreachable, "no connection to \(origin): \(reason(error))", cause: error)
    default:
      return UpstreamError(.unreachable, "no connection to \(origin): \(reason(error))", cause: error)
    }
  }

  // NIO's own messages call every failure a reset, and list all tried addresses.
  private static func reason(_ error: any Error) -> String {
    switch error {
    case ChannelError.outputClosed: "the connection was closed during the TLS handshake"
    case let error as IOError: SystemMessage.text(error.errnoCode)
    case let error as NIOConnectionError:
      error.connectionErrors.last.map { reason($0.error) } ?? unresolved(error)
    default: "\(error)"
    }
  }

  private static func unresolved(_ error: NIOConnectionError) -> String {
    (error.dnsAAAAError as? ForbiddenAddress).map { "\($0)" } ?? "the host name does not resolve"
  }
}

/// Tells why a TLS handshake failed; the handler that waits for the chosen protocol only sees that the connection ends.
final class HandshakeFailureHandler: ChannelInboundHandler {
  typealias InboundIn = NIOAny

  private let promise: EventLoopPromise<Connector.Connection>

  init(_ promise: EventLoopPromise<Connector.Connection>) { self.promise = promise }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    promise.fail(error)
    context.fireErrorCaught(error)
  }
}

/// The meaning of a TLS error, as part of a sentence.
enum HandshakeFailure {
  static func text(_ error: any Error) -> String {
    if let error = error as? NIOSSLExtraError, error == .failedToValidateHostname {
      return "the certificate is for another host"
    }
    let text = "\(error)"
    // The reason within BoringSSL's message, such as `CERTIFICATE_VERIFY_FAILED`.
    guard let start = text.firstRange(of: "OPENSSL_internal:") else { return text }
    switch text[start.upperBound...].prefix(while: { $0.isUppercase || $0.isNumber || $0 == "_" }) {
    case "CERTIFICATE_VERIFY_FAILED": return "the certificate is not trusted"
    case "WRONG_VERSION_NUMBER": return "the server does not speak TLS"
    case let reason: return reason.replacing("_", with: " ").lowercased()
    }
  }
}
