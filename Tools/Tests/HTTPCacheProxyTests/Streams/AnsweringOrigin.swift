import NIOCore
import NIOPosix

/// An origin that answers each request at once: an upgrade with 101, then what it gets; any other with 200 and `ok`.
final class AnsweringOrigin: Sendable {
  private final class Handler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private var isUpgraded = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      let bytes = unwrapInboundIn(data)
      let text = String(buffer: bytes)
      if isUpgraded {
        context.writeAndFlush(wrapOutboundOut(bytes), promise: nil)
      } else if text.contains("Upgrade: ") {
        isUpgraded = true
        answer("101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n", context)
      } else if text.hasSuffix("\r\n\r\n") || !text.contains(" HTTP/1.1\r\n") {
        answer("200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 2\r\n\r\nok", context)
      }
    }

    private func answer(_ text: String, _ context: ChannelHandlerContext) {
      context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: "HTTP/1.1 " + text)), promise: nil)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
  }

  private let listener: any Channel
  let port: Int

  init() async throws {
    listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(Handler()) }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    port = listener.localAddress?.port ?? 0
  }

  func close() async throws { try await listener.close() }
}
