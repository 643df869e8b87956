/// A connection to an origin that an exchange uses.
final class ConnectionLease: Sendable {
  let stream: ByteStream
  let origin: Origin
  /// Whether the connection may have ended before the request was sent: it carried an exchange before.
  let isReused: Bool
  /// The connection of which `stream` is a stream of HTTP/2; nil for HTTP/1.1.
  let http2: HTTP2OriginConnection?
  /// The response heads of a stream of HTTP/2.
  let heads: HTTP2ResponseHeads?
  /// Tells whether the exchange waits for its client. While the client is slow, another connection may take this
  /// connection's place in the pool.
  let pace: ClientPace

  init(_ stream: ByteStream, _ origin: Origin, isReused: Bool) {
    self.stream = stream
    self.origin = origin
    self.isReused = isReused
    (http2, heads, pace) = (nil, nil, ClientPace())
  }

  /// A stream of HTTP/2. The connection may end at any time.
  init(
    _ stream: ByteStream, _ origin: Origin, http2: HTTP2OriginConnection, heads: HTTP2ResponseHeads,
    pace: ClientPace
  ) {
    self.stream = stream
    self.origin = origin
    isReused = true
    (self.http2, self.heads, self.pace) = (http2, heads, pace)
  }
}
