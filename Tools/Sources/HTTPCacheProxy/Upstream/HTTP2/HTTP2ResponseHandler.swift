import NIOCore
import NIOHPACK
import NIOHTTP2

/// Translates the frames of a response on one stream: heads for the attempt, bytes for the `ByteStream`.
final class HTTP2ResponseHandler: HTTP2MessageHandler {
  private let heads: HTTP2ResponseHeads
  private let stream: ByteStream

  init(_ heads: HTTP2ResponseHeads, _ stream: ByteStream, limits: MessageLimits) {
    self.heads = heads
    self.stream = stream
    super.init(limits: limits)
  }

  override func take(
    _ frame: HTTP2Frame.FramePayload.Headers, _ context: ChannelHandlerContext
  ) throws(ProtocolViolation) {
    let isInterim = frame.headers.first(name: ":status")?.hasPrefix("1") == true
    if !isInterim { trailers = heads.trailers }
    guard heads.add(frame.headers) else { throw ProtocolViolation(RequestAttempt.tooManyInterim) }
    stream.interrupt()
  }
}
