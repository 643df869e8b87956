import NIOCore
import NIOHPACK

/// The frames of a response that are not bytes of its body.
enum HTTP2Output: Sendable {
  /// A head.
  case head(HPACKHeaders, endsStream: Bool)
  /// The end of the body; empty trailers are not sent.
  case end(trailers: HPACKHeaders)
  /// The response is complete, and the rest of the request is not needed (RFC 9113 §8.1).
  case restIsNotNeeded
}

extension ByteStream {
  /// Hands frames to the channel without sending them yet.
  func write(_ output: HTTP2Output) {
    channel.pipeline.triggerUserOutboundEvent(output, promise: nil)
  }
}
