import NIOCore
import NIOHPACK
import NIOHTTP2
import NIOPosix
import NIOSSL
import NIOTLS
import ServerTesting

@testable import HTTPCacheProxy

/// An origin with TLS that answers over HTTP/2 as a test says, and over HTTP/1.1 each request with 200 and `one`.
final class HTTP2TestOrigin: Sendable {
  /// One request on a stream.
  struct Request: Sendable {
    let headers: HPACKHeaders
    /// The number of the connection, from 1.
    let connection: Int
    let stream: any Channel

    func head(_ fields: KeyValuePairs<String, String>, ends: Bool = false, flushes: Bool = true) {
      let headers = HPACKHeaders(fields.map { ($0.key, $0.value) })
      write(.headers(.init(headers: headers, endStream: ends)), flushes: flushes)
    }

    func body(_ text: String, ends: Bool = false, flushes: Bool = true) {
      let bytes = IOData.byteBuffer(ByteBuffer(string: text))
      write(.data(.init(data: bytes, endStream: ends)), flushes: flushes)
    }

    private func write(_ frame: HTTP2Frame.FramePayload, flushes: Bool) {
      stream.write(frame, promise: nil)
      if flushes { stream.flush() }
    }

    func reset(_ code: HTTP2ErrorCode) {
      stream.writeAndFlush(HTTP2Frame.FramePayload.rstStream(code), promise: nil)
    }

    /// Tells the client that no more streams are served.
    func goAway() {
      let frame = HTTP2Frame(
        streamID: .rootStream, payload: .goAway(lastStreamID: .maxID, errorCode: .noError, opaqueData: nil))
      stream.parent?.writeAndFlush(frame, promise: nil)
    }

    /// Allows another number of streams on the connection.
    func allow(streams count: Int) {
      let settings = [HTTP2Setting(parameter: .maxConcurrentStreams, value: count)]
      let frame = HTTP2Frame(streamID: .rootStream, payload: .settings(.settings(settings)))
      stream.parent?.writeAndFlush(frame, promise: nil)
    }

    func closeConnection() { stream.parent?.close(promise: nil) }
  }

  private final class StreamHandler: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame.FramePayload

    private let connection: Int
    private let answer: @Sendable (Request) -> Void

    init(_ connection: Int, _ answer: @escaping @Sendable (Request) -> Void) {
      self.connection = connection
      self.answer = answer
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      guard case .headers(let frame) = unwrapInboundIn(data) else { return }
      answer(Request(headers: frame.headers, connection: connection, stream: context.channel))
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
  }

  private final class HTTP1Handler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      let answer = ByteBuffer(string: "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\none")
      context.writeAndFlush(wrapOutboundOut(answer), promise: nil)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
  }

  private let listener: any Channel
  let port: Int

  /// - Parameters:
  ///   - protocols: the names in ALPN, the preferred one first.
  ///   - streams: the number of streams that a connection allows.
  init(
    protocols: [String] = ["h2", "http/1.1"], streams: Int = 100,
    _ answer: @escaping @Sendable (Request) -> Void
  ) async throws {
    var tls = try TLSTests.server()
    tls.applicationProtocols = protocols
    let context = try NIOSSLContext(configuration: tls)
    let count = Counter()
    listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let choice = NIOTypedApplicationProtocolNegotiationHandler<Void> { result, channel in
            channel.eventLoop.makeCompletedFuture {
              guard result == .negotiated("h2") else {
                return try channel.pipeline.syncOperations.addHandler(HTTP1Handler())
              }
              try Self.addHTTP2(to: channel, count.increment(), streams: streams, answer)
            }
          }
          try channel.pipeline.syncOperations.addHandlers([NIOSSLServerHandler(context: context), choice])
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    port = listener.localAddress?.port ?? 0
  }

  private static func addHTTP2(
    to channel: any Channel, _ number: Int, streams: Int, _ answer: @escaping @Sendable (Request) -> Void
  ) throws {
    // The tests also send what is not allowed.
    var connection = NIOHTTP2Handler.ConnectionConfiguration()
    (connection.headerBlockValidation, connection.contentLengthValidation) = (.disabled, .disabled)
    connection.initialSettings = [HTTP2Setting(parameter: .maxConcurrentStreams, value: streams)]
    _ = try channel.pipeline.syncOperations.configureHTTP2Pipeline(
      mode: .server, connectionConfiguration: connection, streamConfiguration: .init()
    ) { stream in
      stream.eventLoop.makeCompletedFuture {
        try stream.pipeline.syncOperations.addHandler(StreamHandler(number, answer))
      }
    }
  }

  func close() async throws { try await listener.close() }
}
