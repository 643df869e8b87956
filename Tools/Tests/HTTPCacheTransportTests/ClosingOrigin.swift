import NIOCore
import NIOPosix
import Synchronization

/// An origin that answers each request with given bytes and closes the connection; nil never answers. Each
/// connection gets the next answer; the last one goes on.
final class ClosingOrigin: Sendable {
  private final class Handler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer
    private let answer: String?
    private let onRequest: @Sendable (String) -> Void
    private var seen = ""

    init(_ answer: String?, onRequest: @escaping @Sendable (String) -> Void) {
      self.answer = answer
      self.onRequest = onRequest
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      seen += String(buffer: unwrapInboundIn(data))
      guard seen.contains("\r\n\r\n") else { return }
      onRequest(seen)
      guard let answer else { return }
      context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: answer)), promise: nil)
      context.close(promise: nil)
    }
  }

  let base: String
  private let channel: any Channel
  private let received: AsyncStream<String>

  init(_ answers: [String?]) async throws {
    let rest = Mutex(answers)
    let (received, continuation) = AsyncStream.makeStream(of: String.self)
    self.received = received
    channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let answer = rest.withLock { $0.count > 1 ? $0.removeFirst() : $0.first ?? nil }
          try channel.pipeline.syncOperations.addHandler(
            Handler(answer) { continuation.yield($0) })
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    base = "http://127.0.0.1:\(channel.localAddress?.port ?? 0)"
  }

  /// The next request that arrived.
  func nextRequest() async -> String? { await received.first { _ in true } }

  func close() async throws { try await channel.close() }
}
