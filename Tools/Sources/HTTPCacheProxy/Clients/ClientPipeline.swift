import NIOCore
import NIOHTTP2
import NIOPosix
import NIOSSL
import NIOTLS

/// Sets up the connections of clients: TLS, the choice of protocol, and the handlers of each.
struct ClientPipeline: Sendable {
  /// The names of protocols in ALPN, the preferred one first.
  static let protocols = ["h2", "http/1.1"]
  private static let concurrentStreams = 100
  private static let window = 256 << 10

  let context: ProxyContext

  /// Sets up a new connection.
  ///
  /// - Throws: what adding handlers throws.
  func set(up channel: any Channel) throws {
    let configuration = context.configuration
    // Not every system has this option.
    channel.setOption(.unsentLimit, value: 128 << 10).whenFailure { _ in }
    if let tls = context.tls {
      try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls))
      guard configuration.isHTTP2 else { return try addHTTP1(to: channel) }
      let timer = limit(channel, configuration.headTimeout)
      try channel.syncOptions?.setOption(.autoRead, value: true)
      try channel.pipeline.syncOperations.addHandler(
        NIOTypedApplicationProtocolNegotiationHandler<Void> { result, channel in
          channel.eventLoop.makeCompletedFuture {
            timer.cancel()
            guard result == .negotiated("h2") else {
              try channel.syncOptions?.setOption(.autoRead, value: false)
              return try addHTTP1(to: channel)
            }
            try addHTTP2(to: channel)
          }
        })
    } else if configuration.isHTTP2WithoutTLS {
      let timer = limit(channel, configuration.idleTimeout)
      try channel.pipeline.syncOperations.addHandler(
        PrefaceHandler { isHTTP2 in
          timer.cancel()
          if isHTTP2 { try addHTTP2(to: channel) } else { try addHTTP1(to: channel) }
        })
    } else {
      try addHTTP1(to: channel)
    }
  }

  /// Closes a connection on which no protocol is chosen in time.
  private func limit(_ channel: any Channel, _ time: TimeAmount) -> Scheduled<Void> {
    channel.eventLoop.scheduleTask(in: time) { channel.close(promise: nil) }
  }

  private func addHTTP1(to channel: any Channel) throws {
    let stream = ByteStream(channel: channel)
    let client = ClientSide(channel, context.configuration)
    let connection = ClientConnection(stream, context: context, client: client, isHTTP2: false)
    let hits = context.answers(of: channel.eventLoop).map { HitPath(connection, answers: $0) }
    try channel.pipeline.syncOperations.addHandler(ByteStreamHandler(stream, hits: hits))
    connection.start()
  }

  private func addHTTP2(to channel: any Channel) throws {
    let connection = HTTP2Connection(channel)
    let client = ClientSide(channel, context.configuration)
    guard context.registry.admits(connection, of: channel, context.configuration) else {
      return channel.close(promise: nil)
    }
    channel.closeFuture.whenComplete { _ in context.registry.remove(connection) }
    try channel.syncOptions?.setOption(.autoRead, value: true)
    let operations = channel.pipeline.syncOperations
    let management = NIOHTTP2ServerConnectionManagementHandler(
      eventLoop: channel.eventLoop,
      configuration: .init(
        maxIdleTime: context.configuration.idleTimeout, maxAge: nil, maxGraceTime: nil, keepalive: nil))
    try operations.addHandler(WriteJoiner())
    try operations.addHandler(
      NIOHTTP2Handler(
        mode: .server, connectionConfiguration: connectionConfiguration(),
        streamConfiguration: streamConfiguration()))
    try operations.addHandler(
      HTTP2HitHandler(context, client, on: channel, management: management.http2StreamDelegate))
    let multiplexer = HTTP2StreamMultiplexer(
      mode: .server, channel: channel, targetWindowSize: Self.window,
      outboundBufferSizeHighWatermark: Connector.waterMark.high,
      outboundBufferSizeLowWatermark: Connector.waterMark.low
    ) { stream in stream.eventLoop.makeCompletedFuture { try addStream(to: stream, client) } }
    try operations.addHandler(multiplexer)
    try operations.addHandler(management)
    try operations.addHandler(HTTP2ErrorHandler(logger: context.configuration.logger))
    // It begins to wait for streams when the channel becomes active, which has happened before it was added.
    try operations.context(handlerType: NIOHTTP2Handler.self).fireChannelActive()
    if context.registry.isDraining {
      channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
    }
    channel.read()
  }

  private func addStream(to channel: any Channel, _ client: ClientSide) throws {
    try channel.syncOptions?.setOption(.autoRead, value: false)
    try channel.pipeline.syncOperations.addHandler(HTTP2StreamHandler(context, client))
    // The head is not read by a task.
    channel.read()
  }

  private func connectionConfiguration() -> NIOHTTP2Handler.ConnectionConfiguration {
    var configuration = NIOHTTP2Handler.ConnectionConfiguration()
    configuration.initialSettings = [
      HTTP2Setting(parameter: .maxConcurrentStreams, value: Self.concurrentStreams),
      HTTP2Setting(parameter: .maxHeaderListSize, value: context.configuration.limits.headBytes),
      HTTP2Setting(parameter: .initialWindowSize, value: Self.window),
    ]
    configuration.maximumBufferedControlFrames = 200
    return configuration
  }

  private func streamConfiguration() -> NIOHTTP2Handler.StreamConfiguration {
    var configuration = NIOHTTP2Handler.StreamConfiguration()
    // A proxy with many users on one connection resets a stream for each of them that leaves.
    configuration.streamResetFrameRateLimit.maximumCount = 1_000
    return configuration
  }
}
