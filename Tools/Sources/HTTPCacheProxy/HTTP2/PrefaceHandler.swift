import NIOCore

/// Tells HTTP/2 with prior knowledge from HTTP/1.1 by the first bytes of a connection (RFC 9113 §3.4).
final class PrefaceHandler: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer

  private static let preface = ByteBuffer(string: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")

  private let decide: (_ isHTTP2: Bool) throws -> Void
  private var bytes = ByteBuffer()

  /// - Parameter decide: adds the handlers for the protocol.
  init(_ decide: @escaping (_ isHTTP2: Bool) throws -> Void) { self.decide = decide }

  func channelActive(context: ChannelHandlerContext) {
    context.fireChannelActive()
    context.read()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    var buffer = unwrapInboundIn(data)
    bytes.writeBuffer(&buffer)
    let count = min(bytes.readableBytes, Self.preface.readableBytes)
    let isHTTP2 = bytes.readableBytesView.prefix(count) == Self.preface.readableBytesView.prefix(count)
    guard !isHTTP2 || count == Self.preface.readableBytes else { return }
    do { try decide(isHTTP2) } catch { return context.close(promise: nil) }
    context.fireChannelRead(wrapInboundOut(bytes))
    context.pipeline.syncOperations.removeHandler(self, promise: nil)
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    context.fireChannelReadComplete()
    context.read()
  }
}
