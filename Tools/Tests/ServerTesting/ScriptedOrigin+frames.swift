import NIOCore

/// A connection of an origin over HTTP/2 whose frames a test writes by hand.
private final class FrameHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private static let preface = 24
  private let settings: [UInt8]?
  private let began: @Sendable () -> Void
  private let answer: @Sendable (UInt32) -> [[UInt8]]
  private var arrived = ByteBuffer()
  private var hasBegun = false

  init(
    _ settings: [UInt8]?, _ began: @escaping @Sendable () -> Void,
    _ answer: @escaping @Sendable (UInt32) -> [[UInt8]]
  ) {
    (self.settings, self.began, self.answer) = (settings, began, answer)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    var bytes = unwrapInboundIn(data)
    arrived.writeBuffer(&bytes)
    if !hasBegun {
      guard arrived.readSlice(length: Self.preface) != nil else { return }
      hasBegun = true
      if let settings { send(settings, context) }
      began()
    }
    while let length = arrived.getInteger(at: arrived.readerIndex + 1, as: UInt16.self),
      arrived.readableBytes >= 9 + Int(length), let head = arrived.readBytes(length: 9)
    {
      arrived.moveReaderIndex(forwardBy: Int(length))
      let stream = head[5...].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
      if head[3] == HTTP2Peer.settings, head[4] == 0 {
        send(HTTP2Peer.frame(HTTP2Peer.settings, flags: 1), context)
      }
      if head[3] == HTTP2Peer.headers { send(Array(answer(stream).joined()), context) }
    }
  }

  private func send(_ bytes: [UInt8], _ context: ChannelHandlerContext) {
    context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}

extension ScriptedOrigin {
  /// An origin with TLS and HTTP/2 whose frames a test writes by hand. A preface counts as an arrived request.
  ///
  /// - Parameters:
  ///   - settings: the frames after a preface; nil sends none.
  ///   - http1: the answer to each request over HTTP/1.1; nil speaks HTTP/2 alone.
  ///   - answer: the frames for a request on a stream.
  package static func frames(
    settings: [UInt8]? = HTTP2Peer.frame(HTTP2Peer.settings), http1: String? = nil,
    _ answer: @escaping @Sendable (UInt32) -> [[UInt8]]
  ) async throws -> ScriptedOrigin {
    try await ScriptedOrigin(
      tls: TestCertificate.server(protocols: http1 == nil ? ["h2"] : ["h2", "http/1.1"]),
      http2: { channel, arrived in
        try channel.pipeline.syncOperations.addHandler(FrameHandler(settings, arrived, answer))
      },
      { _ in http1.map { Answer(bytes: $0.utf8, isHeld: true) } })
  }
}
