import NIOCore
import NIOPosix
import Synchronization

/// An origin that answers every request with the same bytes and closes, whatever they are. Of several
/// answers, each connection gets the next; the last one goes on.
final class RawOrigin: Sendable {
  private final class Handler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer
    private let answer: ByteBuffer?
    private var seen = ""

    init(_ answer: ByteBuffer?) { self.answer = answer }

    /// The head of a request has come, or the first record of TLS.
    private var isComplete: Bool { seen.contains("\r\n\r\n") || seen.utf8.first == 0x16 }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      seen += String(buffer: unwrapInboundIn(data))
      guard let answer, isComplete else { return }
      context.writeAndFlush(wrapOutboundOut(answer), promise: nil)
      context.close(promise: nil)
    }
  }

  let base: String
  private let channel: any Channel

  /// - Parameter answer: nil never answers.
  convenience init(_ answer: String?) async throws {
    try await self.init(bytes: answer.map { Array($0.utf8) })
  }

  convenience init(bytes: [UInt8]?) async throws {
    try await self.init(buffers: [bytes.map { ByteBuffer(bytes: $0) }])
  }

  convenience init(answers: [String]) async throws {
    try await self.init(buffers: answers.map { ByteBuffer(string: $0) })
  }

  private init(buffers: [ByteBuffer?]) async throws {
    let rest = Mutex(buffers)
    channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let answer = rest.withLock { $0.count > 1 ? $0.removeFirst() : $0.first ?? nil }
          try channel.pipeline.syncOperations.addHandler(Handler(answer))
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    base = "http://127.0.0.1:\(channel.localAddress?.port ?? 0)"
  }

  func close() async throws { try await channel.close() }
}
