#if AsyncHTTPClient
  public import AsyncHTTPClient
  import NIOCore
  import NIOHTTP1

  /// Ends a body whose connection breaks with a mark behind the bytes that have arrived. AsyncHTTPClient 1.37 drops the
  /// bytes that it has read and that its caller has not asked for when the error comes; it passes all on before an end.
  ///
  /// Stands behind the decoder of a connection over HTTP/1.1.
  final class BrokenBodyHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias InboundOut = HTTPClientResponsePart

    private var isInBody = false

    /// Adds a handler to a connection, on its event loop.
    static func add(toHTTP1 channel: any Channel) throws {
      let pipeline = channel.pipeline.syncOperations
      let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPResponseDecoder>.self)
      try pipeline.addHandler(BrokenBodyHandler(), position: .after(decoder))
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      switch unwrapInboundIn(data) {
      case .head(let head): isInBody = head.status.code >= 200
      case .body: break
      case .end: isInBody = false
      }
      context.fireChannelRead(data)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
      if let mark = BrokenBodyMark(of: error) { end(context, mark) }
      // The client ignores an error after the end.
      context.fireErrorCaught(error)
    }

    func channelInactive(context: ChannelHandlerContext) {
      end(context, BrokenBodyMark())
      context.fireChannelInactive()
    }

    private func end(_ context: ChannelHandlerContext, _ mark: BrokenBodyMark) {
      guard isInBody else { return }
      isInBody = false
      context.fireChannelRead(wrapInboundOut(.body(mark.buffer)))
      context.fireChannelRead(wrapInboundOut(.end(nil)))
    }
  }

  /// The last piece of a body whose connection broke: a buffer without bytes, which no decoder makes. Its reader index has
  /// the number of the system's error.
  struct BrokenBodyMark {
    private static let errnoLimit = 4_096

    private let errno: Int

    /// The mark of a connection that was closed.
    init() { errno = 0 }

    /// The mark of an error of the connection; nil for an error of the message.
    init?(of error: any Error) {
      switch error {
      case let error as IOError where (0..<Self.errnoLimit).contains(Int(error.errnoCode)):
        errno = Int(error.errnoCode)
      case HTTPParserError.invalidEOFState: errno = 0
      default: return nil
      }
    }

    /// Reads a mark; nil for bytes of a body.
    init?(_ buffer: ByteBuffer) {
      guard buffer.readableBytes == 0, (1...Self.errnoLimit).contains(buffer.readerIndex) else { return nil }
      errno = buffer.readerIndex - 1
    }

    var buffer: ByteBuffer {
      var buffer = ByteBuffer(repeating: 0, count: errno + 1)
      buffer.moveReaderIndex(to: errno + 1)
      return buffer
    }

    /// The error that broke the connection.
    var error: any Error {
      errno == 0
        ? HTTPParserError.invalidEOFState : IOError(errnoCode: CInt(errno), reason: "the connection broke")
    }
  }

  extension HTTPClient.Configuration {
    /// Makes a body whose connection breaks end with an error behind all bytes that have arrived. With AsyncHTTPClient 1.37
    /// alone the bytes are lost that it has read and passes on later.
    ///
    /// Only for a client without `decompression` all of whose requests go through an `AsyncHTTPClientUpstream`, which
    /// throws the error: for other callers such a body would look complete. A request that waits for a connection to the
    /// same host may get the broken one, and fails: set `connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit` to the
    /// number of your requests at once. Holds for HTTP/1.1. Call it before you make the client and after you set its
    /// connection initialisers, which still run.
    public mutating func keepBytesOfBrokenConnections() {
      precede(\.http1_1ConnectionDebugInitializer) { try BrokenBodyHandler.add(toHTTP1: $0) }
    }
  }
#endif
