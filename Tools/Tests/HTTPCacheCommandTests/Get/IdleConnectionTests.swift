import NIOCore
import NIOPosix
import Synchronization
import Testing

/// An origin that answers one request of each connection, keeps the connection open, and closes it when the next request
/// comes, as if it had begun to close an idle connection.
private final class ClosingOrigin: Sendable {
  private final class Handler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer
    private let answer: (String) -> String
    private var hasAnswered = false
    private var seen = ""

    init(_ answer: @escaping (String) -> String) { self.answer = answer }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      seen += String(buffer: unwrapInboundIn(data))
      guard seen.contains("\r\n\r\n") else { return }
      let text = answer(seen)
      seen = ""
      guard !hasAnswered else { return context.close(promise: nil) }
      hasAnswered = true
      context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: text)), promise: nil)
    }
  }

  private final class Log: Sendable {
    let lines = Mutex<[String]>([])
  }

  let base: String
  private let channel: any Channel
  private let log = Log()

  /// The first words of the requests.
  var requests: [String] { log.lines.withLock { $0 } }

  /// An origin that redirects from `/start` to `/next`.
  init() async throws {
    let log = log
    channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let handler = Handler { request in
            let words = request.split(separator: " ").prefix(2).joined(separator: " ")
            log.lines.withLock { $0.append(words) }
            return words.hasSuffix("/start")
              ? "HTTP/1.1 302 Found\r\nLocation: /next\r\nContent-Length: 0\r\n\r\n"
              : "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
          }
          try channel.pipeline.syncOperations.addHandler(handler)
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    base = "http://127.0.0.1:\(channel.localAddress?.port ?? 0)"
  }

  func close() async throws { try await channel.close() }
}

/// RFC 9112 §9.3.1: a connection may be closed while the client sends the next request on it.
@Suite(.timeLimit(.minutes(10))) struct IdleConnectionTests {
  @Test("a request without content is sent once more on a new connection")
  func repeated() async throws {
    let directory = try TemporaryDirectory()
    let origin = try await ClosingOrigin()
    let run = await CommandRun("get", origin.base + "/start", "--dir", directory.file("cache"))
    try await origin.close()
    #expect(run.status == 0, "\(run.errors)")
    #expect(origin.requests == ["GET /start", "GET /next", "GET /next"])
  }
}
