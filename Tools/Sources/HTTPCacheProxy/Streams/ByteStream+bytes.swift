import NIOCore
import Synchronization

/// Reading: one task at a time takes the received bytes.
extension ByteStream {
  /// Which user of the stream may read; see `interrupt`.
  var epoch: Int { state.withLock { $0.epoch } }

  /// Whether there are received bytes that no reader has taken.
  var hasBytes: Bool { state.withLock { $0.buffered > 0 } }

  /// Whether the peer can send no more.
  var isEnded: Bool { state.withLock { $0.end != nil || $0.isClosed } }

  /// Notes that all responses were sent and a request is awaited.
  ///
  /// - Parameter idle: how long the connection may stay open without a request.
  func awaitRequest(idle: TimeAmount) {
    // On another thread, bytes of the last response could still be on their way to the channel.
    guard channel.eventLoop.inEventLoop else { return }
    state.withLock { state in
      if state.buffered == 0, state.end == nil { state.idleTimeout = idle }
    }
  }

  /// The next bytes, never empty; nil at the end.
  ///
  /// - Throws: `StreamError.timedOut` at `deadline`, `cancelled` after `interrupt` or when the task
  ///   is cancelled, `failed` when the transport failed.
  func read(until deadline: NIODeadline, epoch: Int? = nil) async throws(StreamError) -> ByteBuffer? {
    while true {
      let step = state.withLock { state -> Step in
        if let epoch, epoch != state.epoch { return .interrupted }
        if let first = state.buffers.popFirst() {
          state.buffered -= first.readableBytes
          let wantsMore = !state.isReading && state.end == nil && state.buffered < window
          if wantsMore { state.isReading = true }
          return .bytes(first, wantsMore: wantsMore)
        }
        if let end = state.end { return .end(end) }
        return .wait
      }
      switch step {
      case .bytes(let buffer, let wantsMore):
        if wantsMore { channel.read() }
        return buffer
      case .end(.ended): return nil
      case .end(.failed(let error)): throw .failed(error)
      case .interrupted: throw .cancelled
      case .wait: break
      }
      if Task.isCancelled { throw .cancelled }
      if deadline <= now { throw .timedOut }
      await waitToRead(until: deadline, epoch: epoch)
    }
  }

  private func waitToRead(until deadline: NIODeadline, epoch: Int?) async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let waits = state.withLock { state -> (waits: Bool, reads: Bool) in
          if !state.buffers.isEmpty || state.end != nil || Task.isCancelled { return (false, false) }
          if let epoch, epoch != state.epoch { return (false, false) }
          state.reader = continuation
          state.readDeadline = deadline
          let reads = !state.isReading
          state.isReading = true
          return (true, reads)
        }
        guard waits.waits else { return continuation.resume() }
        if waits.reads { channel.read() }
        arm(deadline)
      }
    } onCancel: {
      wakeReader()
    }
  }

  /// The bytes behind all of the announced content on a stream of HTTP/2, which are an error; nil if the stream ends, or
  /// nothing comes within 100 ms: some servers end a stream only when they have done other work.
  func readBehindContent(epoch: Int? = nil) async throws -> ByteBuffer? {
    do { return try await read(until: now + .milliseconds(100), epoch: epoch) } catch StreamError.timedOut {
      return nil
    }
  }

  /// Takes a number of bytes, if they have arrived in one piece; nil, and nothing is taken, if not.
  func take(_ count: Int64) -> ByteBuffer? {
    state.withLock { state in
      guard var first = state.buffers.first, count <= first.readableBytes,
        let bytes = first.readSlice(length: Int(count))
      else { return nil }
      state.buffers.removeFirst()
      if first.readableBytes > 0 { state.buffers.prepend(first) }
      state.buffered -= bytes.readableBytes
      return bytes
    }
  }

  /// Puts unused bytes back.
  func unread(_ buffer: ByteBuffer) {
    guard buffer.readableBytes > 0 else { return }
    state.withLock { state in
      state.buffers.prepend(buffer)
      state.buffered += buffer.readableBytes
    }
  }

  /// Ends the wait of a reader with the current epoch.
  func interrupt() {
    state.withLock { $0.epoch += 1 }
    wakeReader()
  }

  func wakeReader() {
    state.withLock { state -> CheckedContinuation<Void, Never>? in
      state.readDeadline = nil
      return state.reader.take()
    }?.resume()
  }
}

/// Writing: one task at a time waits for a slow peer.
extension ByteStream {
  /// Hands bytes to the channel without sending them yet.
  func write(_ buffer: ByteBuffer) { channel.write(IOData.byteBuffer(buffer), promise: nil) }

  /// Sends written bytes as soon as the caller waits for something else, together with what it has written by then.
  ///
  /// - Returns: whether more may be written; if not, `flush(until:)` waits for the peer.
  /// - Throws: `StreamError.closed`.
  func flushSoon() throws(StreamError) -> Bool {
    guard try mayWrite() else { return false }
    channel.eventLoop.execute { [channel] in channel.flush() }
    return true
  }

  /// Sends written bytes at once. An asynchronous function takes hundreds of instructions even if it waits for nothing.
  ///
  /// - Returns: whether more may be written; if not, `flush(until:)` waits for the peer.
  /// - Throws: `StreamError.closed`.
  func flush() throws(StreamError) -> Bool {
    channel.flush()
    return try mayWrite()
  }

  private func mayWrite() throws(StreamError) -> Bool {
    guard channel.isWritable else { return false }
    if state.withLock({ $0.isClosed }) { throw .closed }
    return true
  }

  /// Sends written bytes, and waits while the peer is slower than the writer.
  ///
  /// - Throws: `StreamError`.
  func flush(until deadline: NIODeadline) async throws(StreamError) {
    channel.flush()
    while !channel.isWritable {
      if state.withLock({ $0.isClosed }) { throw .closed }
      if Task.isCancelled { throw .cancelled }
      if deadline <= now { throw .timedOut }
      await waitToWrite(until: deadline)
    }
    if state.withLock({ $0.isClosed }) { throw .closed }
  }

  /// Waits until the system has all bytes that were written. At `deadline` it closes the connection.
  ///
  /// - Throws: `StreamError`.
  func writeOut(until deadline: NIODeadline) async throws(StreamError) {
    let timer =
      deadline < .distantFuture
      ? channel.eventLoop.scheduleTask(deadline: deadline) { [channel] in channel.close(promise: nil) } : nil
    defer { timer?.cancel() }
    do { try await channel.writeAndFlush(IOData.byteBuffer(ByteBuffer())) } catch { throw .failed(error) }
  }

  private func waitToWrite(until deadline: NIODeadline) async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let waits = state.withLock { state -> Bool in
          if channel.isWritable || state.isClosed || Task.isCancelled { return false }
          state.writer = continuation
          state.writeDeadline = deadline
          return true
        }
        guard waits else { return continuation.resume() }
        arm(deadline)
      }
    } onCancel: {
      wakeWriter()
    }
  }

  func wakeWriter() {
    state.withLock { state -> CheckedContinuation<Void, Never>? in
      state.writeDeadline = nil
      return state.writer.take()
    }?.resume()
  }
}
