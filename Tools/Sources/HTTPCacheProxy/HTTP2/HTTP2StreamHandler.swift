import NIOCore
import NIOHTTP2

/// Translates between the frames of one stream of HTTP/2 and the bytes of its `ByteStream`.
final class HTTP2StreamHandler: ChannelDuplexHandler {
  typealias InboundIn = HTTP2Frame.FramePayload
  typealias InboundOut = ByteBuffer
  typealias OutboundIn = IOData
  typealias OutboundOut = HTTP2Frame.FramePayload

  private let connection: ClientConnection
  private let limits: MessageLimits
  private var hasBegun = false

  init(_ connection: ClientConnection, limits: MessageLimits) {
    self.connection = connection
    self.limits = limits
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .headers(let frame):
      // A second block has the trailers.
      if !hasBegun {
        hasBegun = true
        let head = Result { try RequestHead(frame, limits: limits, isForward: connection.routing.isForward) }
        connection.startStream(head)
      } else {
        connection.requestTrailers.set(frame.headers)
      }
      if frame.endStream { end(context) }
    case .data(let frame):
      if case .byteBuffer(let buffer) = frame.data { context.fireChannelRead(wrapInboundOut(buffer)) }
      if frame.endStream { end(context) }
    default: break
    }
  }

  private func end(_ context: ChannelHandlerContext) {
    context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    let bytes = unwrapOutboundIn(data)
    context.write(wrapOutboundOut(.data(.init(data: bytes))), promise: promise)
  }

  func triggerUserOutboundEvent(
    context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?
  ) {
    guard let output = event as? HTTP2Output else {
      return context.triggerUserOutboundEvent(event, promise: promise)
    }
    let payload: HTTP2Frame.FramePayload =
      switch output {
      case .head(let headers, let endsStream): .headers(.init(headers: headers, endStream: endsStream))
      case .end(let trailers) where !trailers.isEmpty: .headers(.init(headers: trailers, endStream: true))
      case .end: .data(.init(data: .byteBuffer(ByteBuffer()), endStream: true))
      case .restIsNotNeeded: .rstStream(.noError)
      }
    context.write(wrapOutboundOut(payload), promise: promise)
  }
}
