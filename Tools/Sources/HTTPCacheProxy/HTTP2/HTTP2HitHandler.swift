import NIOCore
import NIOHTTP2

/// Answers plain requests of one connection over HTTP/2 from memory, before they get a channel of their own, with the
/// frames that the general way would send. Stands between NIOHTTP2's handler of the connection and its multiplexer.
final class HTTP2HitHandler: ChannelInboundHandler {
  typealias Management = NIOHTTP2ServerConnectionManagementHandler.HTTP2StreamDelegate
  typealias InboundIn = HTTP2Frame
  typealias InboundOut = HTTP2Frame
  typealias OutboundOut = HTTP2Frame

  private let proxy: ProxyContext
  private let lookup: HitLookup?
  private let log: RequestLog
  private let management: Management
  /// The streams that take the general way, have begun and not ended.
  private var open: Set<HTTP2StreamID> = []
  /// The streams that are answered here and have not ended; few, so that an array is faster than a set.
  private var answered: [HTTP2StreamID] = []
  /// The last stream that began: a later block of fields has its trailers.
  private var latest = HTTP2StreamID.rootStream
  private var mustFlush = false

  /// - Parameter management: counts the streams of the connection.
  init(_ proxy: ProxyContext, _ client: ClientSide, on channel: any Channel, management: Management) {
    self.proxy = proxy
    self.management = management
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
      lookup.answers.plain.find(in: frame.headers)
    else { return false }
    let started = NIODeadline.now()
    let head = { [proxy] in
      try? RequestHead(frame, limits: limits, isForward: Routing.isForward(proxy.mode))
    }
    guard let content = lookup.content(for: lookup.answers.plain.key, head), let headers = content.headers
    else { return false }
    answered.append(stream)
    let hasContent = ResponseWriter.hasContent(content.status)
    write(.headers(.init(headers: headers, endStream: !hasContent)), to: stream, context)
    if hasContent {
      write(.data(.init(data: .byteBuffer(content.bytes), endStream: true)), to: stream, context)
    }
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
    case let event as NIOHTTP2StreamCreatedEvent:
      if answered.contains(event.streamID) {
        return management.streamCreated(event.streamID, channel: context.channel)
      }
      open.insert(event.streamID)
    case let event as StreamClosedEvent:
      if let index = answered.firstIndex(of: event.streamID) {
        answered.remove(at: index)
        return management.streamClosed(event.streamID, channel: context.channel)
      }
      // A malformed request ends a stream that never began. The management of the connection counts streams.
      if open.remove(event.streamID) == nil { return }
    default: break
    }
    context.fireUserInboundEventTriggered(event)
  }
}
