import NIOCore
import NIOPosix
import NIOSSL

/// An origin with TLS and HTTP/2 whose frames a test writes by hand.
package final class RawHTTP2Origin: Sendable {
  private final class Handler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private static let preface = 24
    private let settings: [UInt8]?
    private let http1: String?
    private let began: @Sendable () -> Void
    private let answer: (UInt32) -> [UInt8]
    private var arrived = ByteBuffer()
    private var hasBegun = false

    init(
      _ settings: [UInt8]?, _ http1: String?, _ began: @escaping @Sendable () -> Void,
      _ answer: @escaping (UInt32) -> [UInt8]
    ) {
      (self.settings, self.http1, self.began, self.answer) = (settings, http1, began, answer)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      var bytes = unwrapInboundIn(data)
      arrived.writeBuffer(&bytes)
      if let http1, !hasBegun, !arrived.readableBytesView.starts(with: "PRI".utf8) {
        guard arrived.readableBytesView.suffix(4).elementsEqual("\r\n\r\n".utf8) else { return }
        arrived.clear()
        return send(Array(http1.utf8), context)
      }
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
        if head[3] == 4, head[4] == 0 { send(RawHTTP2Origin.frame(4, 1, 0), context) }
        if head[3] == 1 { send(answer(stream), context) }
      }
    }

    private func send(_ bytes: [UInt8], _ context: ChannelHandlerContext) {
      context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
  }

  private let listener: any Channel

  /// The URL of the origin, without a slash at its end.
  package let base: String

  /// An element for each connection whose preface has arrived.
  package let connections: AsyncStream<Void>

  /// - Parameters:
  ///   - settings: the frames after a preface; nil sends none.
  ///   - http1: the answer to each request over HTTP/1.1; nil speaks HTTP/2 alone.
  ///   - answer: the frames for a request on a stream.
  package init(
    settings: [UInt8]? = RawHTTP2Origin.frame(4, 0, 0), http1: String? = nil,
    _ answer: @escaping @Sendable (UInt32) -> [UInt8]
  ) async throws {
    let (connections, continuation) = AsyncStream.makeStream(of: Void.self)
    self.connections = connections
    var tls = try TestCertificate.server()
    tls.applicationProtocols = http1 == nil ? ["h2"] : ["h2", "http/1.1"]
    let context = try NIOSSLContext(configuration: tls)
    listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let handlers: [any ChannelHandler] = [
            NIOSSLServerHandler(context: context),
            Handler(settings, http1, { continuation.yield() }, answer),
          ]
          try channel.pipeline.syncOperations.addHandlers(handlers)
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    base = "https://localhost:\(listener.localAddress?.port ?? 0)"
  }

  /// A frame (RFC 9113 §4.1).
  package static func frame(_ type: UInt8, _ flags: UInt8, _ stream: UInt32, _ payload: [UInt8] = [])
    -> [UInt8]
  {
    let (count, octets) = (payload.count, [24, 16, 8, 0].map { UInt8(stream >> $0 & 255) })
    return [UInt8(count >> 16 & 255), UInt8(count >> 8 & 255), UInt8(count & 255), type, flags] + octets
      + payload
  }

  /// HEADERS, and CONTINUATION for what does not fit into 16 KiB.
  package static func head(_ stream: UInt32, _ block: [UInt8]) -> [UInt8] {
    stride(from: 0, to: block.count, by: 16_384).flatMap { start in
      let part = Array(block[start..<min(block.count, start + 16_384)])
      return frame(start == 0 ? 1 : 9, start + 16_384 >= block.count ? 4 : 0, stream, part)
    }
  }

  /// A status of the static table, and a field of `size` octets without compression.
  package static func block(status: UInt8 = 0x88, size: Int) -> [UInt8] {
    var (length, rest): ([UInt8], Int) = ([127], size - 127)
    while rest > 127 {
      length.append(UInt8(rest & 127 | 128))
      rest >>= 7
    }
    return [status, 0, 3] + Array("x-a".utf8) + length + [UInt8(rest)] + [UInt8](repeating: 0x7E, count: size)
  }

  package func close() async throws { try await listener.close() }
}
