import HTTPTypes
import NIOCore
import NIOHPACK
import NIOHTTP2

/// Translates between the frames of one stream of HTTP/2 and the bytes of its `ByteStream`.
final class HTTP2StreamHandler: ChannelDuplexHandler {
  typealias InboundIn = HTTP2Frame.FramePayload
  typealias InboundOut = ByteBuffer
  typealias OutboundIn = IOData
  typealias OutboundOut = HTTP2Frame.FramePayload

  private let proxy: ProxyContext
  private let client: ClientSide
  /// Nil before the request begins.
  private var connection: ClientConnection?
  private var hasBegun = false
  private var hasEnded = false
  private let ends: StreamEnds
  /// The stream, once its end was written and not flushed.
  private var unflushedEnd: HTTP2StreamID?

  /// - Parameter ends: those of the connection.
  init(_ proxy: ProxyContext, _ client: ClientSide, ends: StreamEnds) {
    self.proxy = proxy
    self.client = client
    self.ends = ends
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .headers(let frame):
      // A second block has the trailers.
      if hasBegun {
        guard frame.headers.fit(proxy.configuration.limits) else {
          let limit = proxy.configuration.limits.headBytes
          context.fireErrorCaught(ProtocolViolation("trailers larger than \(limit) bytes", status: 431))
          return context.close(promise: nil)
        }
        connection?.requestTrailers.set(frame.headers)
      } else {
        hasBegun = true
        begin(frame, context)
      }
      if frame.endStream { end(context) }
    case .data(let frame):
      if case .byteBuffer(let buffer) = frame.data { context.fireChannelRead(wrapInboundOut(buffer)) }
      if frame.endStream { end(context) }
    default: break
    }
  }

  private func head(_ frame: HTTP2Frame.FramePayload.Headers) -> Result<RequestHead, any Error> {
    Result {
      try RequestHead(
        frame, limits: proxy.configuration.limits, isForward: Routing.isForward(proxy.mode))
    }
  }

  private func begin(_ frame: HTTP2Frame.FramePayload.Headers, _ context: ChannelHandlerContext) {
    let stream = ByteStream(channel: context.channel, window: ByteStream.windowOfHTTP2)
    let connection = ClientConnection(stream, context: proxy, client: client, isHTTP2: true)
    self.connection = connection
    do {
      try context.pipeline.syncOperations.addHandler(ByteStreamHandler(stream))
      connection.startStream(head(frame))
    } catch {
      context.close(promise: nil)
    }
  }

  private func end(_ context: ChannelHandlerContext) {
    hasEnded = true
    context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
  }

  func channelInactive(context: ChannelHandlerContext) {
    // A body without a length would look complete.
    if !hasEnded, connection != nil { context.fireErrorCaught(UnfinishedStream()) }
    context.fireChannelInactive()
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
    let payload: HTTP2Frame.FramePayload =
      switch output {
      case .head(let headers, let endsStream): .headers(.init(headers: headers, endStream: endsStream))
      case .end(let trailers) where !trailers.isEmpty: .headers(.init(headers: trailers, endStream: true))
      case .end where ends.hasSmallerWindows: .headers(.init(headers: [:], endStream: true))
      case .end: .data(.init(data: .byteBuffer(ByteBuffer()), endStream: true))
      case .restIsNotNeeded: .rstStream(.noError)
      }
    if case .end = output { noteEnd(context) }
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

/// The connection ended before a stream of HTTP/2 did. NIOHTTP2 closes the channel of the stream without an error.
struct UnfinishedStream: Error {}

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
