/// Why a connection gave no bytes or took none.
enum StreamError: Error, Sendable {
  /// The connection is closed.
  case closed
  /// Nothing happened for as long as was allowed.
  case timedOut
  /// The reader was called off.
  case cancelled
  /// The transport failed.
  case failed(any Error)
}
