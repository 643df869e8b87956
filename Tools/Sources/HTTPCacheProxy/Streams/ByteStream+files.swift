import NIOCore

/// Sending parts of files, which do not pass through the process.
extension ByteStream {
  /// How often a file is looked at while a part of it is being sent.
  private static let fileCheck = TimeAmount.milliseconds(250)

  /// Begins to send a part of a file.
  ///
  /// - Returns: what is fulfilled when the system has all of it.
  func startSending(_ region: FileRegion) -> EventLoopFuture<Void> {
    channel.writeAndFlush(IOData.fileRegion(region))
  }

  /// Waits until the system has a part of a file.
  ///
  /// - Parameters:
  ///   - deadline: when the connection is closed.
  ///   - isWhole: whether the part is in the file still; if not, the connection is closed. Bytes that were cut
  ///     off can never be sent, and the system only says that nothing was.
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
