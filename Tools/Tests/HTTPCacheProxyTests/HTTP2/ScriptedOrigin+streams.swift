import NIOCore
import NIOHPACK
import NIOHTTP2
import ServerTesting

/// A request to an origin over HTTP/2.
struct StreamRequest: Sendable {
  let headers: HPACKHeaders
  /// The number of the connection, from 1.
  let connection: Int
  fileprivate let stream: any Channel

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
  private let answer: @Sendable (StreamRequest) -> Void

  init(_ connection: Int, _ answer: @escaping @Sendable (StreamRequest) -> Void) {
    self.connection = connection
    self.answer = answer
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard case .headers(let frame) = unwrapInboundIn(data) else { return }
    answer(StreamRequest(headers: frame.headers, connection: connection, stream: context.channel))
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}

extension ScriptedOrigin {
  /// An origin with TLS that answers over HTTP/2 as a test says, and over HTTP/1.1 each request with 200 and `one`.
  ///
  /// - Parameters:
  ///   - protocols: the names in ALPN, the preferred one first.
  ///   - streams: the number of streams that a connection allows.
  static func http2(
    protocols: [String] = ["h2", "http/1.1"], streams: Int = 100,
    _ answer: @escaping @Sendable (StreamRequest) -> Void
  ) async throws -> ScriptedOrigin {
    let count = Counter()
    return try await ScriptedOrigin(
      tls: TestCertificate.server(protocols: protocols),
      http2: { channel, _ in
        let number = count.increment()
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
      },
      { _ in Answer(bytes: "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\none".utf8, isHeld: true) })
  }
}
