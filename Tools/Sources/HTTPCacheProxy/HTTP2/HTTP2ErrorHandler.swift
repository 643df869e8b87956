import NIOCore
import NIOHTTP2

/// Closes a connection after an error that concerns all its streams. NIOHTTP2 has then sent the reason.
final class HTTP2ErrorHandler: ChannelInboundHandler {
  typealias InboundIn = HTTP2Frame

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    if error is NIOHTTP2Errors.StreamError { return }
    context.close(promise: nil)
  }
}
