import NIOCore
import NIOHTTP2
import Synchronization

/// A connection to an origin over HTTP/2 (RFC 9113), on which each request is a stream.
final class HTTP2OriginConnection: Sendable {
  private struct State {
    var streams = 0
    var opened = 0
    var isRetired = false
    var idle: Scheduled<Void>?
  }

  /// A connection has identifiers for 2^30 streams (RFC 9113 §5.1.1).
  private static let mostStreams = 1 << 29
  /// Bytes of one stream that may arrive before a client takes them.
  private static let window = 256 << 10

  let channel: any Channel
  private let multiplexer: NIOHTTP2Handler.StreamMultiplexer
  private let idleTimeout: TimeAmount
  private let state = Mutex(State())

  /// Begins to speak HTTP/2 on a connection; call it on the channel's event loop.
  ///
  /// - Parameter idleTimeout: how long the connection is kept without streams.
  /// - Throws: what adding handlers throws.
  init(_ channel: any Channel, limits: MessageLimits, idleTimeout: TimeAmount) throws {
    self.channel = channel
    self.idleTimeout = idleTimeout
    var connection = NIOHTTP2Handler.ConnectionConfiguration()
    connection.initialSettings = [
      HTTP2Setting(parameter: .enablePush, value: 0),
      HTTP2Setting(parameter: .maxHeaderListSize, value: limits.headBytes),
      HTTP2Setting(parameter: .initialWindowSize, value: Self.window),
    ]
    connection.targetWindowSize = 4 << 20
    var stream = NIOHTTP2Handler.StreamConfiguration()
    stream.targetWindowSize = Self.window
    multiplexer = try channel.pipeline.syncOperations.configureHTTP2Pipeline(
      mode: .client, connectionConfiguration: connection, streamConfiguration: stream
    ) { $0.close() }
    try channel.pipeline.syncOperations.addHandler(HTTP2OriginHandler(self))
  }

  /// Opens a stream. Streams beyond the number that the origin allows wait in the channel.
  ///
  /// - Returns: the stream, and the response heads that arrive on it; nil if the connection takes no more requests.
  func open() async -> (stream: ByteStream, heads: HTTP2ResponseHeads)? {
    guard begin() else { return nil }
    let opened = multiplexer.createStreamChannel { $0.eventLoop.makeSucceededVoidFuture() }
      .flatMapThrowing { channel in
        try channel.syncOptions?.setOption(.autoRead, value: false)
        let (stream, heads) = (ByteStream(channel: channel), HTTP2ResponseHeads())
        try channel.pipeline.syncOperations.addHandlers(
          [HTTP2ResponseHandler(heads, stream), ByteStreamHandler(stream)])
        channel.closeFuture.whenComplete { _ in self.end() }
        return (stream, heads)
      }
    do {
      return try await opened.get()
    } catch {
      end()
      return nil
    }
  }

  /// Takes no more streams, and closes the connection when the last one has ended.
  func retire() {
    let isUnused = state.withLock { state in
      state.isRetired = true
      return state.streams == 0
    }
    if isUnused { channel.close(promise: nil) }
  }

  private func begin() -> Bool {
    let idle = state.withLock { state -> (begins: Bool, timer: Scheduled<Void>?) in
      guard !state.isRetired, state.opened < Self.mostStreams, channel.isActive else { return (false, nil) }
      state.streams += 1
      state.opened += 1
      return (true, state.idle.take())
    }
    idle.timer?.cancel()
    return idle.begins
  }

  private func end() {
    let isLast = state.withLock { state in
      state.streams -= 1
      guard state.streams == 0, !state.isRetired else { return state.streams == 0 }
      state.idle = channel.eventLoop.scheduleTask(in: idleTimeout) { self.retire() }
      return false
    }
    if isLast { channel.close(promise: nil) }
  }
}
