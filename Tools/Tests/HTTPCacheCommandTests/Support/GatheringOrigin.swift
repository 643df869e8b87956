import NIOCore
import NIOPosix
import Synchronization

/// An origin that answers no request before a number of connections have sent one.
final class GatheringOrigin: Sendable {
  private final class Handler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    private let onRequest: (any Channel) -> Void
    private var seen = ""

    init(_ onRequest: @escaping (any Channel) -> Void) { self.onRequest = onRequest }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      seen += String(buffer: unwrapInboundIn(data))
      if seen.hasSuffix("\r\n\r\n") { onRequest(context.channel) }
    }
  }

  /// `127.0.0.1` and the port.
  let authority: String
  private let channel: any Channel

  /// - Parameter count: the number of connections.
  init(_ count: Int) async throws {
    let gathered = Mutex<[any Channel]>([])
    channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let handler = Handler { channel in
            let all = gathered.withLock { gathered in
              gathered.append(channel)
              return gathered.count == count ? gathered : []
            }
            for channel in all {
              let answer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
              channel.writeAndFlush(ByteBuffer(string: answer), promise: nil)
            }
          }
          try channel.pipeline.syncOperations.addHandler(handler)
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    authority = "127.0.0.1:\(channel.localAddress?.port ?? 0)"
  }

  func close() async throws { try await channel.close() }
}
