package import HTTPCaching
import NIOCore
import NIOHPACK
import NIOHTTP2
import Synchronization

/// A connection to an origin over HTTP/2 (RFC 9113), on which each request is a stream.
final class HTTP2OriginConnection: Sendable {
  private struct State {
    /// For each stream, whether it waits for its client.
    var paces: [ObjectIdentifier: ClientPace] = [:]
    /// Maximum number of streams at a time: the origin's SETTINGS_MAX_CONCURRENT_STREAMS (RFC 9113 §6.5.2), once known.
    var mostAtATime = 100
    var opened = 0
    var isRetired = false
    var idle: Scheduled<Void>?
    var onFreeStreams: FreeStreamsHook?
  }

  /// Gets the number of streams that have become free, and whether the connection has none in use.
  typealias FreeStreamsHook = @Sendable (_ count: Int, _ isUnused: Bool) -> Void

  /// A connection has identifiers for 2^30 streams (RFC 9113 §5.1.1).
  private static let mostStreams = 1 << 29
  /// Bytes of one stream that may arrive before a client takes them.
  private static let window = 128 << 10

  let channel: any Channel
  private let multiplexer: NIOHTTP2Handler.StreamMultiplexer
  private let limits: MessageLimits
  private let idleTimeout: TimeAmount
  private let state = Mutex(State())

  /// Begins to speak HTTP/2 on a connection; call it on the channel's event loop.
  ///
  /// - Parameter idleTimeout: how long the connection is kept without streams.
  /// - Throws: what adding handlers throws.
  init(_ channel: any Channel, limits: MessageLimits, idleTimeout: TimeAmount) throws {
    self.channel = channel
    self.limits = limits
    self.idleTimeout = idleTimeout
    var connection = NIOHTTP2Handler.ConnectionConfiguration()
    connection.initialSettings = [
      HTTP2Setting(parameter: .enablePush, value: 0),
      HTTP2Setting(parameter: .maxHeaderListSize, value: limits.decodedHeadBytes),
      HTTP2Setting(parameter: .initialWindowSize, value: Self.window),
    ]
    connection.maximumSequentialContinuationFrames = MessageLimits.continuationFrames
    connection.targetWindowSize = 4 << 20
    var stream = NIOHTTP2Handler.StreamConfiguration()
    stream.targetWindowSize = Self.window
    let aligner = FrameAligner()
    try channel.pipeline.syncOperations.addHandlers([aligner, HeadWriter(limits, isClient: true)])
    multiplexer = try channel.pipeline.syncOperations.configureHTTP2Pipeline(
      mode: .client, connectionConfiguration: connection, streamConfiguration: stream
    ) { $0.close() }
    aligner.begin()
    try channel.pipeline.syncOperations.addHandler(HTTP2OriginHandler(self))
  }

  /// Whether another stream can begin now.
  var hasFreeStream: Bool { state.withLock { Self.hasFreeStream($0) && channel.isActive } }

  /// Whether a stream has kept its request waiting for its client for `patience`.
  func hasSlowStream(at now: NIODeadline, patience: TimeAmount) -> Bool {
    state.withLock { $0.paces.values.contains { $0.isSlow(at: now, patience: patience) } }
  }

  /// Whether no stream is in use.
  var isUnused: Bool { state.withLock { $0.paces.isEmpty } }

  /// Calls `hook` each time that streams become free while no further one could begin, and when the last stream ends.
  func onFreeStreams(_ hook: @escaping FreeStreamsHook) { state.withLock { $0.onFreeStreams = hook } }

  /// Obeys the number of streams that the origin allows.
  func allow(streams count: Int) {
    let (freed, isUnused, hook) = state.withLock { state in
      let before = max(state.mostAtATime, state.paces.count)
      state.mostAtATime = count
      return (count - before, state.paces.isEmpty, state.onFreeStreams)
    }
    if freed > 0 { hook?(freed, isUnused) }
  }

  /// Opens a stream.
  ///
  /// - Returns: a lease of the stream; nil if the connection takes no more requests now.
  func open(_ origin: Origin) async -> ConnectionLease? {
    let pace = ClientPace()
    guard begin(pace) else { return nil }
    let limits = limits
    let opened = multiplexer.createStreamChannel { $0.eventLoop.makeSucceededVoidFuture() }
      .flatMapThrowing { channel in
        try channel.syncOptions?.setOption(.autoRead, value: false)
        let (stream, heads) = (
          ByteStream(channel: channel, window: ByteStream.windowOfHTTP2), HTTP2ResponseHeads()
        )
        try channel.pipeline.syncOperations.addHandlers(
          [HTTP2ResponseHandler(heads, stream, limits: limits), ByteStreamHandler(stream)])
        channel.closeFuture.whenComplete { _ in self.end(pace) }
        return ConnectionLease(stream, origin, isReused: true, http2: self, heads: heads, pace: pace)
      }
    do {
      return try await opened.get()
    } catch {
      end(pace)
      return nil
    }
  }

  /// Takes no more streams, and closes the connection when the last one has ended.
  func retire() {
    let isUnused = state.withLock { state in
      state.isRetired = true
      return state.paces.isEmpty
    }
    if isUnused { channel.close(promise: nil) }
  }

  private static func hasFreeStream(_ state: borrowing State) -> Bool {
    !state.isRetired && state.opened < mostStreams && state.paces.count < state.mostAtATime
  }

  private func begin(_ pace: ClientPace) -> Bool {
    let idle = state.withLock { state -> (begins: Bool, timer: Scheduled<Void>?) in
      guard Self.hasFreeStream(state), channel.isActive else { return (false, nil) }
      state.paces[ObjectIdentifier(pace)] = pace
      state.opened += 1
      return (true, state.idle.take())
    }
    idle.timer?.cancel()
    return idle.begins
  }

  private func end(_ pace: ClientPace) {
    let (isLast, isUnused, hook) = state.withLock { state -> (Bool, Bool, FreeStreamsHook?) in
      let wasFull = !Self.hasFreeStream(state)
      state.paces[ObjectIdentifier(pace)] = nil
      let isUnused = state.paces.isEmpty
      let hook = wasFull || isUnused ? state.onFreeStreams : nil
      guard isUnused, !state.isRetired else { return (isUnused, isUnused, hook) }
      state.idle = channel.eventLoop.scheduleTask(in: idleTimeout) { self.retire() }
      return (false, true, hook)
    }
    if isLast { channel.close(promise: nil) }
    hook?(1, isUnused)
  }
}

extension UpstreamError {
  /// Whether the origin's HTTP/2 failed, so that HTTP/1.1 may work.
  package var isOfHTTP2: Bool { cause is any NIOHTTP2Error || cause is any NIOHPACKError }
}
