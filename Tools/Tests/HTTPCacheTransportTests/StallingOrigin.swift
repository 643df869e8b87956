import NIOCore
import NIOPosix

/// An origin that answers with given bytes and keeps the connection open.
final class StallingOrigin: Sendable {
  private final class Handler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer
    private let answer: String
    private let onRequest: @Sendable () -> Void

    init(_ answer: String, onRequest: @escaping @Sendable () -> Void) {
      self.answer = answer
      self.onRequest = onRequest
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: answer)), promise: nil)
      onRequest()
    }
  }

  let base: String
  private let channel: any Channel
  private let requests: AsyncStream<Void>

  init(_ answer: String) async throws {
    let (requests, continuation) = AsyncStream.makeStream(of: Void.self)
    self.requests = requests
    channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(Handler(answer) { continuation.yield() })
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    base = "http://127.0.0.1:\(channel.localAddress?.port ?? 0)"
  }

  /// Waits for a request.
  func arrived() async { _ = await requests.first { _ in true } }

  func close() async throws { try await channel.close() }
}
