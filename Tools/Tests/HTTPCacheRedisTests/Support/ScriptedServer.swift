import NIOCore
import NIOPosix
import ServerTesting
import Synchronization

@testable import HTTPCacheRedis

/// A server whose replies a test chooses, byte by byte.
final class ScriptedServer: Sendable {
  /// The reaction to a command.
  enum Answer: Sendable {
    /// Writes bytes.
    case bytes(String)
    /// Writes bytes one by one, each in a packet of its own if the network keeps them apart.
    case slowly(String)
    /// Writes bytes, and closes the connection.
    case cut(String)
    /// Nothing.
    case silence
  }

  typealias Script = @Sendable (_ words: [String], _ connection: Int) -> Answer

  private final class Handler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let script: Script
    private let connection: Int
    private let received: Received
    private var decoder = RESPDecoder()

    init(_ connection: Int, _ script: @escaping Script, _ received: Received) {
      self.script = script
      self.connection = connection
      self.received = received
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      var commands: [[String]] = []
      _ = unwrapInboundIn(data).withUnsafeReadableBytes { bytes in
        try? decoder.decode(bytes) { commands.append(($0.elements ?? []).map { $0.text ?? "?" }) }
      }
      for words in commands {
        received.commands.withLock { $0.append(words) }
        switch script(words, connection) {
        case .bytes(let text): write(text, context)
        case .slowly(let text):
          for byte in text.utf8 { write(String(decoding: [byte], as: UTF8.self), context) }
        case .cut(let text):
          write(text, context)
          context.close(promise: nil)
        case .silence: break
        }
      }
    }

    func channelInactive(context: ChannelHandlerContext) { received.ends.increment() }

    private func write(_ text: String, _ context: ChannelHandlerContext) {
      context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: text)), promise: nil)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
  }

  private let listener: any Channel
  private let received: Received
  let port: Int

  private final class Received: Sendable {
    let commands = Mutex<[[String]]>([])
    let connections = Counter()
    let ends = Counter()
  }

  init(_ script: @escaping Script) async throws {
    let received = Received()
    listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let handler = Handler(received.connections.increment(), script, received)
          try channel.pipeline.syncOperations.addHandler(handler)
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    self.received = received
    port = listener.localAddress?.port ?? 0
  }

  deinit { listener.close(promise: nil) }

  /// The commands that it received.
  var commands: [[String]] { received.commands.withLock { $0 } }
  /// How many connections there were.
  var connections: Int { received.connections.value }
  /// How many of them have ended.
  var ends: Int { received.ends.value }

  /// A tier on this server.
  func tier(limits: RedisLimits = .long) throws -> RedisTier {
    let address = try RedisAddress("redis://127.0.0.1:\(port)")
    return try RedisTier(.init(address: address, name: "test"), limits: limits)
  }

  /// A node of this server.
  func node(username: String? = nil, password: String? = nil, database: Int = 0) -> RedisNode {
    RedisNode(
      RedisEndpoint(host: "127.0.0.1", port: port),
      RedisSettings(
        username: username, password: password, database: database, tls: nil,
        group: MultiThreadedEventLoopGroup.singleton, limits: .long))
  }
}
