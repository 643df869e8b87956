import NIOCore

/// Feeds a `ByteStream` from its channel.
final class ByteStreamHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let stream: ByteStream
  private let hits: HitPath?

  /// - Parameter hits: answers requests before the stream gets their bytes.
  init(_ stream: ByteStream, hits: HitPath? = nil) {
    self.stream = stream
    self.hits = hits
  }

  func channelActive(context: ChannelHandlerContext) {
    // A read request from before the channel was active is lost.
    if stream.isAwaited { context.read() }
    context.fireChannelActive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    var buffer = unwrapInboundIn(data)
    if let hits, stream.isBetweenRequests,
      hits.answer(&buffer, write: { context.write(wrapOutboundOut($0), promise: nil) })
    {
      context.flush()
      stream.answered()
    }
    stream.received(buffer)
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    if stream.readCompleted() { context.read() }
    context.fireChannelReadComplete()
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    if context.channel.isWritable { stream.becameWritable() }
    context.fireChannelWritabilityChanged()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case ChannelEvent.inputClosed? = event as? ChannelEvent { stream.ended() }
    context.fireUserInboundEventTriggered(event)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    stream.ended(error)
    context.close(promise: nil)
  }

  func channelInactive(context: ChannelHandlerContext) {
    stream.closed()
    context.fireChannelInactive()
  }
}
