import NIOCore
import NIOHPACK
import NIOHTTP2

/// Translates the frames of a response on one stream: heads for the exchange, bytes for the `ByteStream`.
final class HTTP2ResponseHandler: ChannelInboundHandler {
  typealias InboundIn = HTTP2Frame.FramePayload
  typealias InboundOut = ByteBuffer

  private let heads: HTTP2ResponseHeads
  private let stream: ByteStream
  private var hasFinalHead = false
  private var hasEnded = false

  init(_ heads: HTTP2ResponseHeads, _ stream: ByteStream) {
    self.heads = heads
    self.stream = stream
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .headers(let frame):
      guard take(frame.headers) else {
        context.fireErrorCaught(ProtocolViolation(UpstreamExchange.tooManyInterim))
        return context.close(promise: nil)
      }
      if frame.endStream { end(context) }
    case .data(let frame):
      if case .byteBuffer(let buffer) = frame.data { context.fireChannelRead(wrapInboundOut(buffer)) }
      if frame.endStream { end(context) }
    default: break
    }
  }

  /// - Returns: false if there are too many interim responses.
  private func take(_ headers: HPACKHeaders) -> Bool {
    // A block after the final head has the trailers.
    guard !hasFinalHead else {
      heads.trailers.set(headers)
      return true
    }
    hasFinalHead = headers.first(name: ":status")?.hasPrefix("1") != true
    guard heads.add(headers) else { return false }
    stream.interrupt()
    return true
  }

  private func end(_ context: ChannelHandlerContext) {
    hasEnded = true
    context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
  }

  func channelInactive(context: ChannelHandlerContext) {
    // A body without a length would look complete.
    if !hasEnded { context.fireErrorCaught(UnfinishedStream()) }
    context.fireChannelInactive()
  }
}
