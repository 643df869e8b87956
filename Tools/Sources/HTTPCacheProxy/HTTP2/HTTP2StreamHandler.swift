import NIOCore
import NIOHTTP2

/// Answers a plain request from memory at once. For any other, translates between the frames of one stream of HTTP/2
/// and the bytes of its `ByteStream`.
final class HTTP2StreamHandler: ChannelDuplexHandler {
  typealias InboundIn = HTTP2Frame.FramePayload
  typealias InboundOut = ByteBuffer
  typealias OutboundIn = IOData
  typealias OutboundOut = HTTP2Frame.FramePayload

  private let proxy: ProxyContext
  private let client: ClientSide
  /// Nil before a request takes the general way.
  private var connection: ClientConnection?
  private var hasBegun = false
  private var hasEnded = false

  init(_ proxy: ProxyContext, _ client: ClientSide) {
    self.proxy = proxy
    self.client = client
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .headers(let frame):
      // A second block has the trailers.
      if hasBegun {
        connection?.requestTrailers.set(frame.headers)
      } else {
        hasBegun = true
        if frame.endStream, answer(frame, context) { return }
        begin(frame, context)
      }
      if frame.endStream { end(context) }
    case .data(let frame):
      if case .byteBuffer(let buffer) = frame.data { context.fireChannelRead(wrapInboundOut(buffer)) }
      if frame.endStream { end(context) }
    default: break
    }
  }

  private func head(_ frame: HTTP2Frame.FramePayload.Headers) -> Result<RequestHead, any Error> {
    Result {
      var isForward = false
      if case .forward = proxy.mode { isForward = true }
      return try RequestHead(frame, limits: proxy.configuration.limits, isForward: isForward)
    }
  }

  /// Answers a plain request from memory, with the frames that the general way would send.
  ///
  /// - Returns: false if the request takes the general way.
  private func answer(_ frame: HTTP2Frame.FramePayload.Headers, _ context: ChannelHandlerContext) -> Bool {
    guard !proxy.registry.isDraining, let answers = proxy.answers(of: context.eventLoop),
      let key = PlainRequest.key(of: frame.headers, limits: proxy.configuration.limits)
    else { return false }
    let started = NIODeadline.now()
    let lookup = HitLookup(
      context: proxy, client: client, form: .http2, answers: answers, allocator: context.channel.allocator)
    guard let content = lookup.content(for: key, { try? head(frame).get() }), let headers = content.headers
    else { return false }
    context.write(wrapOutboundOut(.headers(.init(headers: headers, endStream: false))), promise: nil)
    let body = HTTP2Frame.FramePayload.data(.init(data: .byteBuffer(content.bytes), endStream: true))
    context.writeAndFlush(wrapOutboundOut(body), promise: nil)
    let log = RequestLog(proxy, client: client, isHTTP2: true, loop: context.eventLoop)
    log.add(content, started) { try? head(frame).get() }
    return true
  }

  private func begin(_ frame: HTTP2Frame.FramePayload.Headers, _ context: ChannelHandlerContext) {
    let stream = ByteStream(channel: context.channel)
    let connection = ClientConnection(stream, context: proxy, client: client, isHTTP2: true)
    self.connection = connection
    do {
      try context.pipeline.syncOperations.addHandler(ByteStreamHandler(stream))
      connection.startStream(head(frame))
    } catch {
      context.close(promise: nil)
    }
  }

  private func end(_ context: ChannelHandlerContext) {
    hasEnded = true
    context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
  }

  func channelInactive(context: ChannelHandlerContext) {
    // A body without a length would look complete.
    if !hasEnded, connection != nil { context.fireErrorCaught(UnfinishedStream()) }
    context.fireChannelInactive()
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
