/// A connection to an origin that an exchange uses.
final class ConnectionLease: Sendable {
  let stream: ByteStream
  let origin: Origin
  /// Whether it carried an exchange before.
  let isReused: Bool
  /// Whether the exchange waits for its client. While the client is slow, the connection's place in the pool may be
  /// given to another connection.
  let pace = ClientPace()

  init(_ stream: ByteStream, _ origin: Origin, isReused: Bool) {
    self.stream = stream
    self.origin = origin
    self.isReused = isReused
  }
}
