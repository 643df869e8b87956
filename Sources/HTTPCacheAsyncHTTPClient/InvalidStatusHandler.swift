#if AsyncHTTPClient
  public import AsyncHTTPClient
  import NIOCore
  import NIOHPACK
  import NIOHTTP1
  import NIOHTTP2

  /// Fails a response whose status is not one of RFC 9110 §15, before another handler sees it.
  final class InvalidStatusHandler<Part>: ChannelInboundHandler {
    typealias InboundIn = Part
    typealias InboundOut = Part

    private let isInvalid: @Sendable (Part) -> Bool
    private var hasFailed = false

    init(isInvalid: @escaping @Sendable (Part) -> Bool) { self.isInvalid = isInvalid }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      guard !hasFailed else { return }
      guard !isInvalid(unwrapInboundIn(data)) else {
        hasFailed = true
        context.fireErrorCaught(HTTPParserError.invalidStatus)
        context.close(promise: nil)
        return
      }
      context.fireChannelRead(data)
    }
  }

  extension InvalidStatusHandler<HTTPClientResponsePart> {
    /// Adds a handler behind the decoder of a connection over HTTP/1.1, on its event loop.
    static func add(toHTTP1 channel: any Channel) throws {
      let pipeline = channel.pipeline.syncOperations
      let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPResponseDecoder>.self)
      let handler = InvalidStatusHandler {
        if case .head(let head) = $0 { head.status.code < 100 } else { false }
      }
      try pipeline.addHandler(handler, position: .after(decoder))
    }
  }

  extension InvalidStatusHandler<HTTP2Frame.FramePayload> {
    /// Adds a handler before the decoder of a stream of HTTP/2, which would make an unsigned number of the status. HTTP/2
    /// has no 101 (RFC 9113 §8.6). On the stream's event loop.
    static func add(toHTTP2 channel: any Channel) throws {
      let handler = InvalidStatusHandler { payload in
        guard case .headers(let frame) = payload, let status = frame.headers.first(name: ":status") else {
          return false
        }
        return status.utf8.count != 3 || Int(status).map { !(100...999).contains($0) || $0 == 101 } ?? true
      }
      try channel.pipeline.syncOperations.addHandler(handler, position: .first)
    }
  }

  extension HTTPClient.Configuration {
    /// Makes requests fail if the status of their response is not between 100 and 999 (RFC 9110 §15), or is 101 over HTTP/2
    /// (RFC 9113 §8.6).
    ///
    /// AsyncHTTPClient 1.37 ends the process at a status such as 001, and at a response behind a 101 over HTTP/2, so any
    /// origin can end it. A client that
    /// `CachedHTTPClient` makes has this; call it for a client of your own, before you make the client and after you
    /// set its connection initialisers, which still run.
    public mutating func failInvalidStatus() {
      precede(\.http1_1ConnectionDebugInitializer) {
        try InvalidStatusHandler<HTTPClientResponsePart>.add(toHTTP1: $0)
      }
      precede(\.http2StreamChannelDebugInitializer) {
        try InvalidStatusHandler<HTTP2Frame.FramePayload>.add(toHTTP2: $0)
      }
    }

    /// Runs `add` before an initialiser of channels, on the event loop of each channel.
    mutating func precede(
      _ initializer: WritableKeyPath<Self, (@Sendable (any Channel) -> EventLoopFuture<Void>)?>,
      _ add: @escaping @Sendable (any Channel) throws -> Void
    ) {
      let former = self[keyPath: initializer]
      self[keyPath: initializer] = { channel in
        channel.eventLoop.submit { try add(channel) }
          .flatMap { former?(channel) ?? channel.eventLoop.makeSucceededVoidFuture() }
      }
    }
  }
#endif
