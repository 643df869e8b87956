import NIOCore
import Synchronization

/// Writing: one task at a time waits for a slow peer.
extension ByteStream {
  /// Hands bytes to the channel without sending them yet.
  func write(_ buffer: ByteBuffer) { channel.write(IOData.byteBuffer(buffer), promise: nil) }

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
    let timer = channel.eventLoop.scheduleTask(deadline: deadline) { [channel] in
      channel.close(promise: nil)
    }
    defer { timer.cancel() }
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
