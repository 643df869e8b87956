import NIOCore
import NIOHTTP2

/// Ends a connection to an origin after an error that concerns all its streams, and when the origin ends it.
final class HTTP2OriginHandler: ChannelInboundHandler {
  typealias InboundIn = HTTP2Frame

  private let connection: HTTP2OriginConnection

  init(_ connection: HTTP2OriginConnection) { self.connection = connection }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if case .goAway = unwrapInboundIn(data).payload { connection.retire() }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    if !error.isOfOneStream { context.close(promise: nil) }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case ChannelEvent.inputClosed? = event as? ChannelEvent { context.close(promise: nil) }
    context.fireUserInboundEventTriggered(event)
  }
}
