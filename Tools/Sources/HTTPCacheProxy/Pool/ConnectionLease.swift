import NIOCore
import Synchronization

/// A connection to an origin that a request uses.
final class ConnectionLease: Sendable {
  let stream: ByteStream
  let origin: Origin
  /// Whether the connection may have ended before the request was sent: it carried a request before, or
  /// speaks HTTP/2.
  let isReused: Bool
  /// The connection of which `stream` is a stream of HTTP/2; nil for HTTP/1.1.
  let http2: HTTP2OriginConnection?
  /// The response heads of a stream of HTTP/2.
  let heads: HTTP2ResponseHeads?
  /// Tells whether the request waits for its client. While the client is slow, another connection may take this
  /// connection's place in the pool.
  let pace: ClientPace

  init(
    _ stream: ByteStream, _ origin: Origin, isReused: Bool, http2: HTTP2OriginConnection? = nil,
    heads: HTTP2ResponseHeads? = nil, pace: ClientPace = ClientPace()
  ) {
    self.stream = stream
    self.origin = origin
    self.isReused = isReused
    (self.http2, self.heads, self.pace) = (http2, heads, pace)
  }
}

/// Measures how long a request to an origin has waited for its client: for the next bytes of a request's body, or
/// for the client to take more of a response's body.
final class ClientPace: Sendable {
  private let start = Mutex<NIODeadline?>(nil)

  /// Begins a wait for the client, unless one has begun already.
  func waits(since now: NIODeadline = .now()) { start.withLock { $0 = $0 ?? now } }

  /// Ends the wait: the client has sent or taken bytes.
  func goesOn() { start.withLock { $0 = nil } }

  /// Whether the client has kept the request waiting for `patience`.
  func isSlow(at now: NIODeadline, patience: TimeAmount) -> Bool {
    start.withLock { start in start.map { $0 + patience <= now } ?? false }
  }
}
