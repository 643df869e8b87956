import NIOCore
import NIOPosix
import Synchronization

/// An origin that answers the first request only after `release`, as far as `start` is not sent before. Each answer
/// ends its connection.
final class WaitingOrigin: Sendable {
  private struct State {
    var requests = 0
    var first: (any Channel)?
  }

  private final class Handler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    private let answer: @Sendable (any Channel) -> Void
    private var seen = ""

    init(_ answer: @escaping @Sendable (any Channel) -> Void) { self.answer = answer }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      seen += String(buffer: unwrapInboundIn(data))
      guard seen.hasSuffix("\r\n\r\n") else { return }
      seen = ""
      answer(context.channel)
    }
  }

  private final class Kept: Sendable {
    let state = Mutex(State())
  }

  /// `http://127.0.0.1` and the port.
  let base: String
  private let rest: String
  private let kept: Kept

  /// - Parameters:
  ///   - start: the first bytes of the first answer, sent at once.
  ///   - rest: the other bytes of it; each later answer has both.
  init(start: String, rest: String) async throws {
    let kept = Kept()
    (self.kept, self.rest) = (kept, rest)
    let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let handler = Handler { channel in
            let isFirst = kept.state.withLock { state in
              state.requests += 1
              if state.requests == 1 { state.first = channel }
              return state.requests == 1
            }
            channel.writeAndFlush(ByteBuffer(string: isFirst ? start : start + rest), promise: nil)
            if !isFirst { channel.close(promise: nil) }
          }
          try channel.pipeline.syncOperations.addHandler(handler)
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    base = "http://127.0.0.1:\(channel.localAddress?.port ?? 0)"
  }

  /// The number of requests so far.
  var requests: Int { kept.state.withLock { $0.requests } }

  /// Waits until this many requests have arrived.
  func arrived(_ count: Int) async throws {
    while requests < count { try await Task.sleep(for: .milliseconds(5)) }
  }

  /// Sends the rest of the first answer.
  func release() {
    let channel = kept.state.withLock { $0.first.take() }
    channel?.writeAndFlush(ByteBuffer(string: rest), promise: nil)
    channel?.close(promise: nil)
  }
}

/// A connection that sends one request and keeps what is answered.
final class RawClient: Sendable {
  private final class Kept: Sendable {
    let text = Mutex("")
  }

  private final class Handler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    private let kept: Kept

    init(_ kept: Kept) { self.kept = kept }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      let text = String(buffer: unwrapInboundIn(data))
      kept.text.withLock { $0 += text }
    }
  }

  private let kept: Kept
  private let channel: any Channel

  /// Sends a GET request.
  init(port: Int, path: String) async throws {
    let kept = Kept()
    self.kept = kept
    channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(Handler(kept))
        }
      }
      .connect(host: "127.0.0.1", port: port).get()
    let request = "GET \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n"
    try await channel.writeAndFlush(ByteBuffer(string: request)).get()
  }

  /// Waits until the answer has `text`.
  func gets(_ text: String) async throws {
    while !kept.text.withLock({ $0.contains(text) }) { try await Task.sleep(for: .milliseconds(5)) }
  }
}
