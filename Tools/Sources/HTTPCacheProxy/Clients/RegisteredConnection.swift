import NIOCore

/// A client's connection, as the registry counts and ends it.
protocol RegisteredConnection: AnyObject, Sendable {
  /// Whether a request has begun and not ended.
  var isBusy: Bool { get }

  /// Ends the connection after all that was written.
  func closeWritten(within patience: TimeAmount) async

  /// Ends the connection at once, so that no cut response looks complete.
  func reset()
}

extension ByteStream: RegisteredConnection {}
