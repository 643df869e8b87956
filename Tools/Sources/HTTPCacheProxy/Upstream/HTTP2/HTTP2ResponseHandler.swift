import NIOCore
import NIOHPACK
import NIOHTTP2

/// Translates the frames of a response on one stream: heads for the exchange, bytes for the `ByteStream`.
final class HTTP2ResponseHandler: ChannelInboundHandler {
  typealias InboundIn = HTTP2Frame.FramePayload
  typealias InboundOut = ByteBuffer

  private let heads: HTTP2ResponseHeads
  private let stream: ByteStream
  private let limits: MessageLimits
  private var hasFinalHead = false
  private var hasEnded = false

  init(_ heads: HTTP2ResponseHeads, _ stream: ByteStream, limits: MessageLimits) {
    self.heads = heads
    self.stream = stream
    self.limits = limits
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .headers(let frame):
      do throws(ProtocolViolation) {
        try take(frame.headers)
      } catch {
        context.fireErrorCaught(error)
        return context.close(promise: nil)
      }
      if frame.endStream { end(context) }
    case .data(let frame):
      if case .byteBuffer(let buffer) = frame.data { context.fireChannelRead(wrapInboundOut(buffer)) }
      if frame.endStream { end(context) }
    default: break
    }
  }

  /// - Throws: `ProtocolViolation` if there are too many interim responses, or the trailers are too large.
  private func take(_ headers: HPACKHeaders) throws(ProtocolViolation) {
    // A block after the final head has the trailers.
    guard !hasFinalHead else {
      guard headers.fit(limits) else {
        throw ProtocolViolation("trailers larger than \(limits.headBytes) bytes")
      }
      return heads.trailers.set(headers)
    }
    hasFinalHead = headers.first(name: ":status")?.hasPrefix("1") != true
    guard heads.add(headers) else { throw ProtocolViolation(UpstreamExchange.tooManyInterim) }
    stream.interrupt()
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
