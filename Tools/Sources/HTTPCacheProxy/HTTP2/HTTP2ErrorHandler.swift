import Logging
import NIOCore
import NIOHTTP2

/// Closes a connection after an error that concerns all its streams. NIOHTTP2 has sent the reason before. A malformed
/// request ends only its own stream (RFC 9113 §8.1.1): a proxy in front sends the requests of many users over one
/// connection.
final class HTTP2ErrorHandler: ChannelInboundHandler {
  typealias InboundIn = HTTP2Frame

  private let logger: Logger

  init(logger: Logger) { self.logger = logger }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    let client = context.channel.remoteAddress?.ipAddress ?? "a client"
    if error.isOfOneStream { return logger.debug("HTTP/2 stream of \(client) reset: \(error)") }
    logger.info("HTTP/2 connection of \(client) closed: \(error)")
    context.close(promise: nil)
  }
}
