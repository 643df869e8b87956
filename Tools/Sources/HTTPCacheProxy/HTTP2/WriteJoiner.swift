import NIOCore

/// Joins short writes until they are flushed, so that TLS makes one record of the frames of an answer, instead of three:
/// each record takes longer than a copy of 1 KiB.
final class WriteJoiner: ChannelOutboundHandler {
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  /// Maximum number of bytes to join: the longest record (RFC 8446 §5.1).
  private static let longest = 16 << 10

  private var joined = ByteBuffer()

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    var bytes = unwrapOutboundIn(data)
    if promise != nil || joined.readableBytes + bytes.readableBytes > Self.longest { writeJoined(context) }
    guard promise == nil, bytes.readableBytes < Self.longest else {
      return context.write(data, promise: promise)
    }
    if joined.readableBytes == 0 { joined = context.channel.allocator.buffer(capacity: Self.longest) }
    joined.writeBuffer(&bytes)
  }

  func flush(context: ChannelHandlerContext) {
    writeJoined(context)
    context.flush()
  }

  private func writeJoined(_ context: ChannelHandlerContext) {
    guard joined.readableBytes > 0 else { return }
    let bytes = joined
    joined = ByteBuffer()
    context.write(wrapOutboundOut(bytes), promise: nil)
  }
}
