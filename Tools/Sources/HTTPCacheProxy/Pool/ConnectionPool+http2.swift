import HTTPCaching
import NIOCore
import NIOPosix
import Synchronization

/// Connections over HTTP/2: one to each origin on each event loop, and more while the streams of those are used up.
extension ConnectionPool {
  /// A stream on a connection that is there; nil if there is none.
  func stream(to origin: Origin) async -> ConnectionLease? {
    let loop = MultiThreadedEventLoopGroup.currentEventLoop
    let connection = state.withLock {
      $0.origins[origin]?.http2.first {
        (loop == nil || $0.channel.eventLoop === loop) && $0.hasFreeStream
      }
    }
    return await connection?.open(origin)
  }

  /// Adds a new connection, which holds a place until it is closed.
  ///
  /// - Returns: the first stream on it; nil if it is closed already.
  func add(_ connection: HTTP2OriginConnection, for origin: Origin) async -> ConnectionLease? {
    let (isNeeded, waiters) = state.withLock { state -> (Bool, [Waiter]) in
      guard !state.isShutDown, var connections = state.origins[origin] else { return (false, []) }
      defer { state.origins[origin] = connections }
      let isNeeded = !connections.http2.contains {
        $0.channel.eventLoop === connection.channel.eventLoop && $0.hasFreeStream
      }
      connections.http2.append(connection)
      // A request that waits for a connection finds a stream now.
      let waiters = connections.waiters
      connections.waiters = []
      return (isNeeded, waiters)
    }
    resume(waiters, .again)
    connection.onFreeStreams { [weak self] count, isUnused in
      self?.wakeWaiters(count, of: origin, isUnused: isUnused)
    }
    connection.channel.closeFuture.whenComplete { _ in
      let holdsPlace = self.state.withLock { state in
        state.origins[origin]?.http2.removeAll { $0 === connection }
        return state.origins[origin]?.placeless.remove(ObjectIdentifier(connection)) == nil
      }
      if holdsPlace { self.gone(origin) } else { self.forgetIfUnused(origin) }
    }
    let lease = await connection.open(origin)
    // Requests that began together have made several connections.
    if !isNeeded { connection.retire() }
    return lease
  }

  /// Lets requests that wait look for a stream or a place again.
  ///
  /// - Parameters:
  ///   - count: the number of streams that have become free.
  ///   - isUnused: whether their connection has no streams, so that its place may be taken.
  private func wakeWaiters(_ count: Int, of origin: Origin, isUnused: Bool) {
    let woken = state.withLock { state in
      var woken: [Waiter] = []
      while woken.count < count,
        let index = state.origins[origin]?.waiters.firstIndex(where: { isUnused || !$0.fresh }),
        let waiter = state.origins[origin]?.waiters.remove(at: index)
      {
        woken.append(waiter)
      }
      return woken
    }
    resume(woken, .again)
  }

  /// Ends a request on a stream.
  ///
  /// - Parameter isComplete: whether the response is complete; else the stream is reset.
  func endStream(_ stream: ByteStream, isComplete: Bool) {
    guard isComplete else { return stream.close() }
    // The frame that ends the stream may be a moment later than the last byte: a reset would look like a flood.
    let waits = stream.watch(until: .now() + .seconds(1)) { [weak stream] in stream?.close() }
    if !waits { stream.close() }
  }
}
