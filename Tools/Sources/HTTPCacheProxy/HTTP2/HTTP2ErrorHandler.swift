import Logging
import NIOCore
import NIOHTTP2

/// Closes a connection after an error that concerns all its streams, of which NIOHTTP2 has then sent the reason, and
/// when the client ends it.
final class HTTP2ErrorHandler: ChannelInboundHandler {
  typealias InboundIn = HTTP2Frame

  private let logger: Logger

  init(logger: Logger) { self.logger = logger }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    if error is NIOHTTP2Errors.StreamError { return }
    let client = context.channel.remoteAddress?.ipAddress ?? "a client"
    logger.info("HTTP/2 connection of \(client) closed: \(error)")
    context.close(promise: nil)
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case ChannelEvent.inputClosed? = event as? ChannelEvent { context.close(promise: nil) }
    context.fireUserInboundEventTriggered(event)
  }
}
