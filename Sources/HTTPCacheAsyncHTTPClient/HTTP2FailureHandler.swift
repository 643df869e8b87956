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
    /// an error of one stream. Only the bytes of a frame's head count, and not those of a body, which may look like one.
    final class GoAwayWatcher: ChannelOutboundHandler {
      typealias OutboundIn = IOData
      typealias OutboundOut = IOData

      private static let goAway: UInt8 = 7
      private static let preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

      private(set) var hasFailed = false
      /// The bytes of the payload of a frame that have not been written yet.
      private var rest = 0

      func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .byteBuffer(var bytes): while readFrame(from: &bytes) {}
        case .fileRegion(let region): rest -= min(rest, region.readableBytes)
        }
        context.write(data, promise: promise)
      }

      /// Reads the head of a frame (RFC 9113 §4.1) and the part of its payload that is there.
      ///
      /// - Returns: whether more bytes may follow.
      private func readFrame(from bytes: inout ByteBuffer) -> Bool {
        let part = min(rest, bytes.readableBytes)
        bytes.moveReaderIndex(forwardBy: part)
        rest -= part
        if bytes.readableBytesView.starts(with: Self.preface.utf8) {
          bytes.moveReaderIndex(forwardBy: Self.preface.utf8.count)
        }
        guard
          let (high, low, type, _, stream) = bytes.readMultipleIntegers(
            as: (UInt16, UInt8, UInt8, UInt8, UInt32).self)
        else { return false }
        rest = Int(high) << 8 | Int(low)
        // The last stream, then the error (§6.8).
        if type == Self.goAway, stream == 0,
          let code = bytes.getInteger(at: bytes.readerIndex + 4, as: UInt32.self), code != 0
        {
          hasFailed = true
        }
        return true
      }
    }

    private let watcher: GoAwayWatcher
    private var streams: [ObjectIdentifier: any Channel] = [:]

    private init(_ watcher: GoAwayWatcher) { self.watcher = watcher }

    /// Adds handlers to a connection, on its event loop.
    static func add(toConnection channel: any Channel) throws {
      let pipeline = channel.pipeline.syncOperations
      let http2 = try pipeline.handler(type: NIOHTTP2Handler.self)
      let watcher = GoAwayWatcher()
      try pipeline.addHandler(watcher, position: .before(http2))
      try pipeline.addHandler(HTTP2FailureHandler(watcher))
    }

    /// Tells a stream of the errors of its connection, on the event loop of both.
    static func add(toStream channel: any Channel) {
      let handler = try? channel.parent?.pipeline.syncOperations.handler(type: HTTP2FailureHandler.self)
      handler?.add(channel)
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
      precede(\.http2ConnectionDebugInitializer) { try HTTP2FailureHandler.add(toConnection: $0) }
      precede(\.http2StreamChannelDebugInitializer) { HTTP2FailureHandler.add(toStream: $0) }
    }
  }
#endif
