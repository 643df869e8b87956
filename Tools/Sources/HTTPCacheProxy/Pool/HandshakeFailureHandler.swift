import NIOCore

/// Tells why a TLS handshake failed; the handler that waits for the chosen protocol only sees that the connection ends.
final class HandshakeFailureHandler: ChannelInboundHandler {
  typealias InboundIn = NIOAny

  private let promise: EventLoopPromise<Connector.Connection>

  init(_ promise: EventLoopPromise<Connector.Connection>) { self.promise = promise }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    promise.fail(error)
    context.fireErrorCaught(error)
  }
}
