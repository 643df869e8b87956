import HTTPCaching
import NIOCore
import NIOPosix
import Synchronization

/// Connections over HTTP/2: one to each origin on each event loop.
extension ConnectionPool {
  /// A stream on a connection that is there; nil if there is none.
  func stream(to origin: Origin) async -> ConnectionLease? {
    let loop = MultiThreadedEventLoopGroup.currentEventLoop
    let connection = state.withLock {
      $0.origins[origin]?.http2.first { loop == nil || $0.channel.eventLoop === loop }
    }
    guard let connection else { return nil }
    return await stream(on: connection, to: origin)
  }

  /// Adds a new connection, which holds a place until it is closed.
  ///
  /// - Returns: the first stream on it; nil if it is closed already.
  func add(_ connection: HTTP2OriginConnection, for origin: Origin) async -> ConnectionLease? {
    let (isNeeded, waiters) = state.withLock { state -> (Bool, [Waiter]) in
      guard !state.isShutDown, var connections = state.origins[origin] else { return (false, []) }
      defer { state.origins[origin] = connections }
      let isFirst = !connections.http2.contains {
        $0.channel.eventLoop === connection.channel.eventLoop
      }
      if isFirst { connections.http2.append(connection) }
      // A request that waits for a connection finds a stream now.
      let waiters = connections.waiters
      connections.waiters = []
      return (isFirst, waiters)
    }
    for waiter in waiters { waiter.continuation.resume(returning: .again) }
    connection.channel.closeFuture.whenComplete { _ in
      self.state.withLock { $0.origins[origin]?.http2.removeAll { $0 === connection } }
      self.gone(origin)
    }
    let lease = await stream(on: connection, to: origin)
    // Requests that began together have made several connections.
    if !isNeeded { connection.retire() }
    return lease
  }

  private func stream(on connection: HTTP2OriginConnection, to origin: Origin) async -> ConnectionLease? {
    guard let (stream, heads) = await connection.open() else { return nil }
    return ConnectionLease(stream, origin, http2: connection, heads: heads)
  }

  /// Ends an exchange on a stream.
  ///
  /// - Parameter isComplete: whether the response is complete; else the stream is reset.
  func endStream(_ stream: ByteStream, isComplete: Bool) {
    guard isComplete else { return stream.close() }
    // The frame that ends the stream may be a moment later than the last byte: a reset would look like a flood.
    let waits = stream.watch(until: .now() + .seconds(1)) { [weak stream] in stream?.close() }
    if !waits { stream.close() }
  }
}
