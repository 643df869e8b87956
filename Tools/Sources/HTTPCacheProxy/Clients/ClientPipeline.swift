import HTTPCacheLibC
import Logging
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
  /// Bytes of one stream that a client may send before they are taken.
  private static let window = 64 << 10
  /// Bytes of one stream that may wait for a client. All streams of a connection together hold a hundred times as much.
  private static let waterMark = (low: 8 << 10, high: 16 << 10)

  let context: ProxyContext

  /// Sets up a new connection.
  ///
  /// - Throws: what adding handlers throws.
  func set(up channel: any Channel) throws {
    let configuration = context.configuration
    try channel.pipeline.syncOperations.addHandler(EventOrder())
    // Not every system has this option.
    channel.setOption(.unsentLimit, value: 128 << 10).whenFailure { _ in }
    KeepAlive.enable(on: channel)
    switch context.registry.admit(channel) {
    case .admitted(let share):
      channel.closeFuture.whenComplete { _ in context.registry.closed(channel) }
      try addProtocol(to: channel, ClientSide(channel, configuration, share: share))
    case .refused(let refusal):
      try turnAway(channel, refusal)
    case .ignored: channel.close(promise: nil)
    }
  }

  /// Adds the handlers for the protocol of a connection, or those that wait for its choice.
  private func addProtocol(to channel: any Channel, _ client: ClientSide) throws {
    let configuration = context.configuration
    if let tls = context.tls {
      try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls))
      let timer = limit(channel, configuration.headTimeout)
      try channel.syncOptions?.setOption(.autoRead, value: true)
      try channel.pipeline.syncOperations.addHandler(
        NIOTypedApplicationProtocolNegotiationHandler<Void> { result, channel in
          channel.eventLoop.makeCompletedFuture {
            timer.cancel()
            if result == .negotiated("h2") { return try addHTTP2(to: channel, client) }
            try channel.syncOptions?.setOption(.autoRead, value: false)
            try serve(channel, client)
          }
        })
    } else if configuration.isHTTP2WithoutTLS {
      let timer = limit(channel, configuration.idleTimeout)
      try channel.pipeline.syncOperations.addHandler(
        PrefaceHandler { isHTTP2 in
          timer.cancel()
          if isHTTP2 { try addHTTP2(to: channel, client) } else { try serve(channel, client) }
        })
    } else {
      try serve(channel, client)
    }
  }

  /// Closes a connection on which no protocol is chosen in time.
  private func limit(_ channel: any Channel, _ time: TimeAmount) -> Scheduled<Void> {
    channel.eventLoop.scheduleTask(in: time) { channel.close(promise: nil) }
  }

  /// Closes a connection that is refused; tells why if the client speaks HTTP/1.1 for sure. Any other client would have
  /// to end a handshake or a preface first.
  ///
  /// - Throws: what adding handlers throws.
  func turnAway(_ channel: any Channel, _ refusal: Refusal) throws {
    let client = ClientSide(channel, context.configuration, share: nil)
    context.configuration.logger.info(
      "connection of \(client.text ?? "a client") refused: \(refusal.message)")
    guard context.tls == nil, !context.configuration.isHTTP2WithoutTLS else {
      context.registry.endRefusal()
      return channel.close(promise: nil)
    }
    do {
      try addHTTP1(to: channel, client).turnAway(refusal)
    } catch {
      // Its answer would have ended the refusal.
      context.registry.endRefusal()
      throw error
    }
  }

  /// Serves a connection over HTTP/1.1.
  private func serve(_ channel: any Channel, _ client: ClientSide) throws {
    try addHTTP1(to: channel, client).start()
  }

  private func addHTTP1(to channel: any Channel, _ client: ClientSide) throws -> ClientConnection {
    // A client may end its output and take the answer.
    try channel.syncOptions?.setOption(.allowRemoteHalfClosure, value: true)
    let stream = ByteStream(channel: channel)
    let connection = ClientConnection(stream, context: context, client: client, isHTTP2: false)
    let hits = context.answers(of: channel.eventLoop).map { HitPath(connection, answers: $0) }
    try channel.pipeline.syncOperations.addHandler(ByteStreamHandler(stream, hits: hits))
    return connection
  }

  private func addHTTP2(to channel: any Channel, _ client: ClientSide) throws {
    context.registry.serve(channel, by: ChannelConnection(channel, isHTTP2: true))
    try channel.syncOptions?.setOption(.autoRead, value: true)
    let operations = channel.pipeline.syncOperations
    // `HTTP2RequestHandler` watches the time without streams: a timer that each request moves would have to be looked for
    // among those of all connections of the event loop.
    let management = NIOHTTP2ServerConnectionManagementHandler(
      eventLoop: channel.eventLoop,
      configuration: .init(maxIdleTime: nil, maxAge: nil, maxGraceTime: nil, keepalive: nil))
    try operations.addHandler(WriteJoiner())
    try operations.addHandler(
      FrameAligner(prefaceLength: FrameAligner.preface, headTimeout: context.configuration.headTimeout))
    try operations.addHandler(HeadWriter(context.configuration.limits))
    try operations.addHandler(
      NIOHTTP2Handler(
        mode: .server, connectionConfiguration: connectionConfiguration(),
        streamConfiguration: streamConfiguration()))
    let ends = NIOLoopBound(StreamEnds(), eventLoop: channel.eventLoop)
    try operations.addHandler(
      HTTP2RequestHandler(context, client, on: channel, ends: ends.value, management: management))
    // Before the multiplexer, which may end a stream while it is told that the stream has begun.
    try operations.addHandler(management)
    if let turns = context.turns(of: channel.eventLoop) { try operations.addHandler(StreamTurns(turns)) }
    let multiplexer = HTTP2StreamMultiplexer(
      mode: .server, channel: channel, targetWindowSize: Self.window,
      outboundBufferSizeHighWatermark: Self.waterMark.high,
      outboundBufferSizeLowWatermark: Self.waterMark.low
    ) { stream in stream.eventLoop.makeCompletedFuture { try addStream(to: stream, client, ends.value) } }
    try operations.addHandler(multiplexer)
    try operations.addHandler(HTTP2ErrorHandler(logger: context.configuration.logger))
    // It begins to wait for streams when the channel becomes active, which has happened before it was added.
    try operations.context(handlerType: NIOHTTP2Handler.self).fireChannelActive()
    if context.registry.isDraining {
      channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
    }
    channel.read()
  }

  private func addStream(to channel: any Channel, _ client: ClientSide, _ ends: StreamEnds) throws {
    try channel.syncOptions?.setOption(.autoRead, value: false)
    try channel.pipeline.syncOperations.addHandler(HTTP2StreamHandler(context, client, ends: ends))
    // The head is not read by a task.
    channel.read()
  }

  private func connectionConfiguration() -> NIOHTTP2Handler.ConnectionConfiguration {
    var configuration = NIOHTTP2Handler.ConnectionConfiguration()
    configuration.initialSettings = [
      HTTP2Setting(parameter: .maxConcurrentStreams, value: Self.concurrentStreams),
      HTTP2Setting(parameter: .maxHeaderListSize, value: context.configuration.limits.decodedHeadBytes),
      HTTP2Setting(parameter: .initialWindowSize, value: Self.window),
    ]
    // `HTTP2RequestHandler` checks the fields of requests.
    configuration.headerBlockValidation = .disabled
    configuration.maximumBufferedControlFrames = 200
    configuration.maximumSequentialContinuationFrames = MessageLimits.continuationFrames
    // Frames on their way to streams that this side has reset, such as bodies of refused requests (RFC 9113 §5.1). A client
    // that has not read the resets counts these streams as open: they are `concurrentStreams` at most. NIOHTTP2 allocates
    // the list, of 8 bytes for each, with the connection.
    configuration.maximumRecentlyResetStreams = 128
    // Malformed requests in the life of a connection: their rate has a limit.
    configuration.maximumConnectionGlitches = 1_000_000
    // Empty DATA until a stream ends or begins.
    configuration.maximumSequentialEmptyDataFrames = 100
    return configuration
  }

  private func streamConfiguration() -> NIOHTTP2Handler.StreamConfiguration {
    var configuration = NIOHTTP2Handler.StreamConfiguration()
    // A proxy with many users on one connection resets a stream for each of them that leaves.
    configuration.streamResetFrameRateLimit.maximumCount = 1_000
    return configuration
  }
}

extension ChannelOption where Self == ChannelOptions.Types.SocketOption {
  /// Maximum number of unsent bytes that the system buffers for a connection (TCP_NOTSENT_LOWAT).
  ///
  /// Without this option the system buffers some MiB, and takes no more until a third of them is sent. A client that
  /// steadily reads 16 KiB/s would seem to take no byte for more than a minute.
  static var unsentLimit: Self { .tcpOption(.init(rawValue: TCP_NOTSENT_LOWAT)) }
}
