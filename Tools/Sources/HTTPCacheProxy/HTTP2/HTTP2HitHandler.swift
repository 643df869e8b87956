import NIOCore
import NIOHTTP2

/// Answers plain requests of one connection over HTTP/2 from memory, before they get a channel of their own, with the
/// frames that the general way would send. Stands between NIOHTTP2's handler of the connection and its multiplexer.
final class HTTP2HitHandler: ChannelInboundHandler {
  typealias InboundIn = HTTP2Frame
  typealias InboundOut = HTTP2Frame
  typealias OutboundOut = HTTP2Frame

  private let proxy: ProxyContext
  private let lookup: HitLookup?
  private let log: RequestLog
  /// The streams that have begun and not ended.
  private var open: Set<HTTP2StreamID> = []
  /// Streams of `open` that are answered here; their client takes no more bytes at the moment.
  private var answered: Set<HTTP2StreamID> = []
  /// The last stream that began: a later block of fields has its trailers.
  private var latest = HTTP2StreamID.rootStream
  private var mustFlush = false

  init(_ proxy: ProxyContext, _ client: ClientSide, on channel: any Channel) {
    self.proxy = proxy
    lookup = proxy.answers(of: channel.eventLoop).map { answers in
      HitLookup(context: proxy, client: client, form: .http2, answers: answers, allocator: channel.allocator)
    }
    log = RequestLog(proxy, client: client, isHTTP2: true, loop: channel.eventLoop)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let frame = unwrapInboundIn(data)
    // Frames after the request of an answered stream have no effect on the answer.
    if answered.contains(frame.streamID) { return }
    if case .headers(let headers) = frame.payload, frame.streamID > latest {
      latest = frame.streamID
      if headers.endStream, answer(headers, of: frame.streamID, context) { return }
    }
    context.fireChannelRead(data)
  }

  /// - Returns: false if the request takes the general way.
  private func answer(
    _ frame: HTTP2Frame.FramePayload.Headers, of stream: HTTP2StreamID, _ context: ChannelHandlerContext
  ) -> Bool {
    let limits = proxy.configuration.limits
    guard let lookup, !proxy.registry.isDraining, context.channel.isWritable,
      let key = PlainRequest.key(of: frame.headers, limits: limits)
    else { return false }
    let started = NIODeadline.now()
    let head = { [proxy] in
      try? RequestHead(frame, limits: limits, isForward: Routing.isForward(proxy.mode))
    }
    guard let content = lookup.content(for: key, head), let headers = content.headers else { return false }
    answered.insert(stream)
    write(.headers(.init(headers: headers, endStream: false)), to: stream, context)
    write(.data(.init(data: .byteBuffer(content.bytes), endStream: true)), to: stream, context)
    mustFlush = true
    log.add(content, started, head)
    return true
  }

  private func write(
    _ payload: HTTP2Frame.FramePayload, to stream: HTTP2StreamID, _ context: ChannelHandlerContext
  ) {
    context.write(wrapOutboundOut(HTTP2Frame(streamID: stream, payload: payload)), promise: nil)
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    if mustFlush {
      mustFlush = false
      context.flush()
    }
    context.fireChannelReadComplete()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    switch event {
    case let event as NIOHTTP2StreamCreatedEvent: open.insert(event.streamID)
    case let event as StreamClosedEvent:
      answered.remove(event.streamID)
      // A malformed request ends a stream that never began. The management of the connection counts streams.
      if open.remove(event.streamID) == nil { return }
    default: break
    }
    context.fireUserInboundEventTriggered(event)
  }
}
