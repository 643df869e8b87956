import NIOCore

/// Sending ranges of files, without copying them through the process.
extension ByteStream {
  /// Time between two checks of a file while a range of it is being sent.
  private static let fileCheck = TimeAmount.milliseconds(250)

  /// Begins to send a range of a file.
  ///
  /// - Returns: a future that is fulfilled when the system has the whole range.
  func startSending(_ region: FileRegion) -> EventLoopFuture<Void> {
    channel.writeAndFlush(IOData.fileRegion(region))
  }

  /// Waits until the system has a range of a file.
  ///
  /// - Parameters:
  ///   - deadline: when the connection is closed.
  ///   - isWhole: whether the range is still in the file; if not, the connection is closed. Bytes that were cut off can
  ///     never be sent, and the system reports no error for them.
  /// - Throws: `StreamError`.
  func finishSending(
    _ sent: EventLoopFuture<Void>, until deadline: NIODeadline, while isWhole: @escaping @Sendable () -> Bool
  ) async throws(StreamError) {
    let loop = channel.eventLoop
    let timer = loop.scheduleRepeatedTask(initialDelay: Self.fileCheck, delay: Self.fileCheck) {
      [channel] _ in
      if deadline <= loop.now || !isWhole() { channel.close(promise: nil) }
    }
    defer { timer.cancel() }
    do {
      try await withTaskCancellationHandler {
        try await sent.get()
      } onCancel: {
        channel.close(promise: nil)
      }
    } catch {
      throw .failed(error)
    }
  }
}
