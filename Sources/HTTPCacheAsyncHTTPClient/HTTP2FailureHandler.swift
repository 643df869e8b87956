#if AsyncHTTPClient
  public import AsyncHTTPClient
  import NIOCore
  import NIOHTTP2

  /// Ends the requests on a connection over HTTP/2 with the error that NIOHTTP2 finds in the connection. AsyncHTTPClient
  /// 1.37 ignores such an error, and each request waits until its time is over (RFC 9113 §5.4.1).
  ///
  /// Stands behind the multiplexer of the connection, which passes errors on.
  final class HTTP2FailureHandler: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame

    /// Notes that NIOHTTP2 ends the connection: it writes GOAWAY with an error before it tells the error, and nothing for
    /// an error of one stream.
    final class GoAwayWatcher: ChannelOutboundHandler {
      typealias OutboundIn = IOData
      typealias OutboundOut = IOData

      private static let (goAway, errorPlace): (UInt8, Int) = (7, 13)

      private(set) var hasFailed = false

      func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .byteBuffer(let bytes) = unwrapOutboundIn(data),
          bytes.getInteger(at: bytes.readerIndex + 3, as: UInt8.self) == Self.goAway,
          let code = bytes.getInteger(at: bytes.readerIndex + Self.errorPlace, as: UInt32.self), code != 0
        {
          hasFailed = true
        }
        context.write(data, promise: promise)
      }
    }

    private let watcher: GoAwayWatcher
    private var streams: [ObjectIdentifier: any Channel] = [:]

    private init(_ watcher: GoAwayWatcher) { self.watcher = watcher }

    /// Adds handlers to a connection.
    static func add(toConnection channel: any Channel) -> EventLoopFuture<Void> {
      channel.eventLoop.submit {
        let pipeline = channel.pipeline.syncOperations
        let http2 = try pipeline.handler(type: NIOHTTP2Handler.self)
        let watcher = GoAwayWatcher()
        try pipeline.addHandler(watcher, position: .before(http2))
        try pipeline.addHandler(HTTP2FailureHandler(watcher))
      }
    }

    /// Tells a stream of the errors of its connection.
    static func add(toStream channel: any Channel) -> EventLoopFuture<Void> {
      channel.eventLoop.submit {
        guard let pipeline = channel.parent?.pipeline.syncOperations,
          let handler = try? pipeline.handler(type: HTTP2FailureHandler.self)
        else { return }
        handler.add(channel)
      }
    }

    private func add(_ stream: any Channel) {
      let id = ObjectIdentifier(stream)
      streams[id] = stream
      stream.closeFuture.assumeIsolated().whenComplete { _ in self.streams[id] = nil }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
      context.fireErrorCaught(error)
      guard watcher.hasFailed else { return }
      for stream in streams.values { stream.pipeline.fireErrorCaught(error) }
      context.close(promise: nil)
    }
  }

  extension HTTPClient.Configuration {
    /// Makes requests over HTTP/2 fail at once with an error of their connection, such as a head of more than 16 KiB or a
    /// frame that is too long (RFC 9113 §5.4.1).
    ///
    /// With AsyncHTTPClient 1.37 alone such a request waits for its whole time limit. A client that `CachedHTTPClient`
    /// makes has this; call it for a client of your own, before you make the client and after you set its connection
    /// initialisers, which still run.
    public mutating func failConnectionErrors() {
      let (connection, stream) = (http2ConnectionDebugInitializer, http2StreamChannelDebugInitializer)
      http2ConnectionDebugInitializer = { channel in
        HTTP2FailureHandler.add(toConnection: channel)
          .flatMap { connection?(channel) ?? channel.eventLoop.makeSucceededVoidFuture() }
      }
      http2StreamChannelDebugInitializer = { channel in
        HTTP2FailureHandler.add(toStream: channel)
          .flatMap { stream?(channel) ?? channel.eventLoop.makeSucceededVoidFuture() }
      }
    }
  }
#endif
