import NIOCore
import NIOHTTP2

/// Obeys the settings of an origin. Ends a connection after an error that concerns all its streams, and when the origin
/// ends it.
final class HTTP2OriginHandler: ChannelInboundHandler {
  typealias InboundIn = HTTP2Frame

  private let connection: HTTP2OriginConnection

  init(_ connection: HTTP2OriginConnection) { self.connection = connection }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data).payload {
    case .goAway: connection.retire()
    case .settings(.settings(let settings)):
      for setting in settings where setting.parameter == .maxConcurrentStreams {
        connection.allow(streams: setting.value)
      }
    default: break
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    if !error.isOfOneStream { context.close(promise: nil) }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case ChannelEvent.inputClosed? = event as? ChannelEvent { context.close(promise: nil) }
    context.fireUserInboundEventTriggered(event)
  }
}
