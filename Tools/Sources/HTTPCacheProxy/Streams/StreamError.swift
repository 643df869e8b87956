/// The reason why a connection delivered or took no bytes.
enum StreamError: Error, Sendable {
  /// The connection is closed.
  case closed
  /// The time limit has passed.
  case timedOut
  /// Reading was cancelled.
  case cancelled
  /// The transport failed.
  case failed(any Error)
}
