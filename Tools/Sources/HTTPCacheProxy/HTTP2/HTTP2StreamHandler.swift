import HTTPTypes
import NIOCore
import NIOHPACK
import NIOHTTP2

/// Translates between the frames of one stream of HTTP/2 and the bytes of its `ByteStream`.
final class HTTP2StreamHandler: HTTP2MessageHandler, ChannelOutboundHandler {
  typealias OutboundIn = IOData

  private let proxy: ProxyContext
  private let client: ClientSide
  private let ends: StreamEnds
  /// The stream, once its end was written and not flushed.
  private var unflushedEnd: HTTP2StreamID?
  /// When the end of the response has left, which may wait for the client; nil if the request has ended before.
  private var end: EventLoopFuture<Void>.Isolated?

  /// - Parameter ends: those of the connection.
  init(_ proxy: ProxyContext, _ client: ClientSide, ends: StreamEnds) {
    self.proxy = proxy
    self.client = client
    self.ends = ends
    super.init(limits: proxy.configuration.limits)
  }

  override func take(
    _ frame: HTTP2Frame.FramePayload.Headers, _ context: ChannelHandlerContext
  ) throws(ProtocolViolation) {
    let stream = ByteStream(channel: context.channel, window: ByteStream.windowOfHTTP2)
    let connection = ClientConnection(stream, context: proxy, client: client, isHTTP2: true)
    trailers = connection.requestTrailers
    do {
      try context.pipeline.syncOperations.addHandler(ByteStreamHandler(stream))
      connection.startStream(
        Result { try RequestHead(frame, limits: limits, isForward: Routing.isForward(proxy.mode)) })
    } catch {
      context.close(promise: nil)
    }
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    var bytes = unwrapOutboundIn(data)
    while let part = bytes.takeFrame() {
      context.write(wrapOutboundOut(.data(.init(data: .byteBuffer(part)))), promise: nil)
    }
    context.write(wrapOutboundOut(.data(.init(data: bytes))), promise: promise)
  }

  func triggerUserOutboundEvent(
    context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?
  ) {
    guard let output = event as? HTTP2Output else {
      return context.triggerUserOutboundEvent(event, promise: promise)
    }
    if case .restIsNotNeeded = output, let end {
      // NIOHTTP2 drops what waits for the client when the stream is reset.
      return end.whenSuccess {
        context.writeAndFlush(self.wrapOutboundOut(.rstStream(.noError)), promise: promise)
      }
    }
    let payload: HTTP2Frame.FramePayload =
      switch output {
      case .head(let headers, let endsStream): .headers(.init(headers: headers, endStream: endsStream))
      case .end(let trailers) where !trailers.isEmpty: .headers(.init(headers: trailers, endStream: true))
      case .end where ends.hasSmallerWindows: .headers(.init(headers: [:], endStream: true))
      case .end: .data(.init(data: .byteBuffer(ByteBuffer()), endStream: true))
      case .restIsNotNeeded: .rstStream(.noError)
      }
    var promise = promise
    if case .end = output {
      noteEnd(context)
      if !hasEnded {
        let left = promise ?? context.eventLoop.makePromise()
        end = left.futureResult.assumeIsolated()
        promise = left
      }
    }
    context.write(wrapOutboundOut(payload), promise: promise)
  }

  private func noteEnd(_ context: ChannelHandlerContext) {
    // Nothing tells the end of a stream that has ended already.
    guard context.channel.isActive,
      let id = try? context.channel.syncOptions?.getOption(HTTP2StreamChannelOptions.streamID)
    else { return }
    ends.written(id)
    unflushedEnd = id
  }

  func flush(context: ChannelHandlerContext) {
    context.flush()
    if let id = unflushedEnd.take() { ends.flushed(id) }
  }
}

extension IOData {
  /// Takes the payload of a frame from the begin of more bytes than one frame may have: NIOHTTP2 cuts no DATA, because the
  /// peer's size of frames counts as the largest one (`FrameAligner`).
  ///
  /// - Returns: nil for the last payload.
  mutating func takeFrame() -> ByteBuffer? {
    guard case .byteBuffer(var bytes) = self, bytes.readableBytes > HeadWriter.longestPayload else {
      return nil
    }
    let part = bytes.readSlice(length: HeadWriter.longestPayload)
    self = .byteBuffer(bytes)
    return part
  }
}

/// The frames of a response that are not bytes of its body.
enum HTTP2Output: Sendable {
  /// A head.
  case head(HPACKHeaders, endsStream: Bool)
  /// The end of the body; empty trailers are not sent.
  case end(trailers: HPACKHeaders)
  /// The response is complete, and the rest of the request is not needed (RFC 9113 §8.1).
  case restIsNotNeeded
}

extension ByteStream {
  /// Hands frames to the channel without sending them yet.
  func write(_ output: HTTP2Output) {
    channel.pipeline.triggerUserOutboundEvent(output, promise: nil)
  }
}

extension HPACKHeaders {
  /// The names of fields whose values differ from response to response or from second to second. In the table of
  /// compressed fields (RFC 7541 §2.3.2) they would push out the others, and NIOHTTP2 compares each field that it encodes
  /// with the whole table. The list is nghttp2's, with two fields of caches.
  private static let changing: Set<String> = [
    "age", "cache-status", "content-length", "content-range", "etag", "location", "set-cookie",
  ]

  /// The head of a response. Fields for one connection were removed. `Location` gets escapes: values are text here, and
  /// octets that are no UTF-8 would be lost.
  init(_ status: HTTPResponse.Status, _ fields: HTTPFields) {
    self.init([(":status", String(status.code))])
    reserveCapacity(fields.count + 1)
    for field in LenientHead.escapedLocation(fields) {
      let name = field.name.canonicalName
      add(name: name, value: field.value, indexing: Self.changing.contains(name) ? .nonIndexable : .indexable)
    }
  }

  /// Trailers.
  init(_ trailers: HTTPFields) {
    self.init(trailers.map { ($0.name.canonicalName, $0.value) })
  }
}
