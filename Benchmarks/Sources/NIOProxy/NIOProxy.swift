import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix

/// The least that a proxy on SwiftNIO does for a request, as a floor for `serve`: no cache, no rules, no log, no limits,
/// and an origin that sends well-formed responses with `Content-Length`.
///
///     nio-proxy PORT ORIGIN-PORT bytes|codec
///
/// `bytes` looks for the ends of heads and passes the bytes on. `codec` reads and writes both heads with the HTTP/1.1
/// codec of SwiftNIO, and replaces `Connection` by `Via`.
@main struct NIOProxy {
  static func main() async throws {
    guard CommandLine.arguments.count == 4, let port = Int(CommandLine.arguments[1]),
      let originPort = Int(CommandLine.arguments[2]), ["bytes", "codec"].contains(CommandLine.arguments[3])
    else {
      FileHandle.standardError.write(Data("usage: nio-proxy PORT ORIGIN-PORT bytes|codec\n".utf8))
      exit(64)
    }
    let readsBytes = CommandLine.arguments[3] == "bytes"
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let idle = NIOLoopBoundBox.makeBoxSendingValue(IdleConnections(), eventLoop: group.next())
    let listener = try await ServerBootstrap(group: group)
      .serverChannelOption(.backlog, value: 4096)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let pipeline = channel.pipeline.syncOperations
          if readsBytes {
            try pipeline.addHandler(ByteClientHandler(originPort: originPort, idle: idle.value))
          } else {
            try pipeline.configureHTTPServerPipeline()
            try pipeline.addHandler(CodecClientHandler(originPort: originPort, idle: idle.value))
          }
        }
      }
      .bind(host: "127.0.0.1", port: port).get()
    try await listener.closeFuture.get()
  }
}

/// A handler with the connection that it is in.
class ConnectionHandler {
  /// Nil after the end of the connection.
  private(set) final var context: ChannelHandlerContext?

  final func handlerAdded(context: ChannelHandlerContext) { self.context = context }

  final func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }
}

/// The connections to the origin that wait for a request.
final class IdleConnections {
  private var handlers: [ConnectionHandler] = []

  func add(_ handler: ConnectionHandler) { handlers.append(handler) }

  func take<Handler: ConnectionHandler>(_ type: Handler.Type) -> Handler? {
    while let handler = handlers.popLast() {
      if handler.context != nil { return handler as? Handler }
    }
    return nil
  }
}
