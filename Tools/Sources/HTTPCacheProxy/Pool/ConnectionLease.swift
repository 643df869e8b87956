/// A connection to an origin that an exchange uses.
final class ConnectionLease: Sendable {
  let stream: ByteStream
  let origin: Origin
  /// Whether the connection carried an exchange before.
  let isReused: Bool
  /// Tells whether the exchange waits for its client. While the client is slow, another connection may take this
  /// connection's place in the pool.
  let pace = ClientPace()

  init(_ stream: ByteStream, _ origin: Origin, isReused: Bool) {
    self.stream = stream
    self.origin = origin
    self.isReused = isReused
  }
}
