#if Redis
  import HTTPCaching
  import NIOCore
  import NIOSSL

  /// Passes on what happens on the channel of a connection.
  final class RedisHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    // Weak, so that a tier that is not used any more closes its connections.
    private weak var connection: RedisConnection?

    init(_ connection: RedisConnection?) { self.connection = connection }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      connection?.received(unwrapInboundIn(data))
    }

    func channelInactive(context: ChannelHandlerContext) {
      connection?.close(.unreachable, "the server closed the connection")
      context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
      connection?.close(Self.isDistrust(error) ? .refused : .unreachable, SharedTierError.reason(error))
      context.close(promise: nil)
    }

    /// Whether TLS failed in a way that trying again does not help against.
    private static func isDistrust(_ error: any Error) -> Bool {
      if error is NIOSSLExtraError { return true }
      if case .handshakeFailed = error as? NIOSSLError { return true }
      return false
    }
  }
#endif
