import NIOCore
import NIOHTTP2

/// Takes the frames of a message on one stream of HTTP/2: a subclass gets the heads, the `ByteStream` gets the bytes.
class HTTP2MessageHandler: ChannelInboundHandler {
  typealias InboundIn = HTTP2Frame.FramePayload
  typealias InboundOut = ByteBuffer
  typealias OutboundOut = HTTP2Frame.FramePayload

  let limits: MessageLimits
  /// Gets the block of fields after the final head; nil before that head.
  var trailers: StreamTrailers?
  private var hasBegun = false
  /// Whether the peer has ended the stream.
  private(set) var hasEnded = false

  init(limits: MessageLimits) { self.limits = limits }

  /// Takes a head, and sets `trailers` if the head is the final one.
  ///
  /// - Throws: `ProtocolViolation`, which ends the stream.
  func take(
    _ frame: HTTP2Frame.FramePayload.Headers, _ context: ChannelHandlerContext
  ) throws(ProtocolViolation) {}

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .headers(let frame):
      hasBegun = true
      do throws(ProtocolViolation) {
        if let trailers { try trailers.set(frame.headers, limits: limits) } else { try take(frame, context) }
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

  private func end(_ context: ChannelHandlerContext) {
    hasEnded = true
    context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
  }

  func channelInactive(context: ChannelHandlerContext) {
    // A body without a length would look complete.
    if hasBegun, !hasEnded { context.fireErrorCaught(UnfinishedStream()) }
    context.fireChannelInactive()
  }
}

/// The connection ended before a stream of HTTP/2 did. NIOHTTP2 closes the channel of the stream without an error.
struct UnfinishedStream: Error {}
