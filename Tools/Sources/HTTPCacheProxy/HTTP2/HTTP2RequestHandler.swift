import HTTPCacheSemantics
import HTTPCaching
import HTTPTypes
import Logging
import NIOCore
import NIOHPACK
import NIOHTTP2

/// Decides about each request of one connection over HTTP/2, before it gets a channel of its own: answers it from memory
/// with the frames that the slow path would send, refuses it if its client has too many under way, or passes it on.
/// Stands behind NIOHTTP2's handler of the connection, before what manages the connection and its multiplexer.
///
/// Ends what a client keeps waiting: answers that it does not take, and a connection without streams.
///
/// The multiplexer never hears of a stream that is answered here, and the management of the connection hears of it by a
/// call: an event of NIOHTTP2 takes as long as a field of the head, in each handler that it passes.
final class HTTP2RequestHandler: ChannelInboundHandler {
  typealias InboundIn = HTTP2Frame
  typealias InboundOut = HTTP2Frame
  typealias OutboundOut = HTTP2Frame

  /// Bytes of answers from memory that may wait for the client. Further answers take the slow path, which holds less of
  /// each.
  private static let mostWaitingBytes = 256 << 10
  /// Maximum number of malformed messages within `malformedTime`, as NIOHTTP2 allows other errors of streams.
  private static let mostMalformed = 200
  private static let malformedTime = TimeAmount.seconds(30)
  private let proxy: ProxyContext
  private let client: ClientSide
  private let lookup: HitLookup?
  private let log: RequestLog
  private let management: NIOHTTP2ServerConnectionManagementHandler.HTTP2StreamDelegate
  private var streams = HTTP2ConnectionStreams()
  private let ends: StreamEnds
  private var malformed = (count: 0, since: NIODeadline.now())
  private var mustFlush = false
  /// When the last stream began or ended.
  private var lastUse = NIODeadline.now()
  private var timer: (due: NIODeadline, scheduled: Scheduled<Void>)?
  /// Whether the client was asked to end the connection, because it had no streams.
  private var hasAskedForEnd = false
  /// Bytes that the client may send, as the multiplexer knows them.
  private var inboundWindow: Int?

  /// How long a connection without streams may stay until the client is asked to end it, and then until it is closed: the
  /// management of the connection would wait for the client's answer for ever.
  private var idlePatience: TimeAmount {
    let configuration = proxy.configuration
    return hasAskedForEnd ? configuration.idleTimeout + configuration.headTimeout : configuration.idleTimeout
  }

  /// - Parameters:
  ///   - ends: those of the streams with a channel of their own.
  ///   - management: is told of the streams that are answered from memory or refused.
  init(
    _ proxy: ProxyContext, _ client: ClientSide, on channel: any Channel, ends: StreamEnds,
    management: NIOHTTP2ServerConnectionManagementHandler
  ) {
    self.ends = ends
    self.proxy = proxy
    self.client = client
    self.management = management.http2StreamDelegate
    lookup = proxy.answers(of: channel.eventLoop).map { answers in
      HitLookup(context: proxy, client: client, form: .http2, answers: answers, allocator: channel.allocator)
    }
    log = RequestLog(proxy, client: client, isHTTP2: true, loop: channel.eventLoop)
  }

  func channelActive(context: ChannelHandlerContext) {
    arm(context)
    context.fireChannelActive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let frame = unwrapInboundIn(data)
    // Frames after the request of an answered stream have no effect on the answer.
    if streams.isAnswered(frame.streamID) { return }
    if case .headers(let headers) = frame.payload {
      if streams.begins(frame.streamID) {
        guard headers.headers.isWellFormedRequest else { return reset(frame.streamID, isNew: true, context) }
        if headers.endStream, answer(headers, of: frame.streamID, context) { return }
        guard begin(headers, of: frame.streamID, context) else { return }
      } else if !headers.headers.areWellFormedTrailers {
        return reset(frame.streamID, isNew: false, context)
      }
    } else if case .settings(.settings(let settings)) = frame.payload {
      for id in ends.received(settings, isWritable: context.channel.isWritable) {
        write(.rstStream(.enhanceYourCalm), to: id, context)
      }
    }
    context.fireChannelRead(data)
  }

  /// Ends a stream with a malformed message (RFC 9113 §8.1.1), and the connection of a client that sends many (§10.5).
  ///
  /// - Parameter isNew: whether the stream begins with this message, so that nothing has been told of it.
  private func reset(_ stream: HTTP2StreamID, isNew: Bool, _ context: ChannelHandlerContext) {
    proxy.configuration.logger.debug("HTTP/2 stream of \(client.text ?? "a client") reset: malformed fields")
    let now = NIODeadline.now()
    if isNew { streams.addAnswered(stream, size: 0, deadline: now + proxy.configuration.bodyTimeout) }
    write(.rstStream(.protocolError), to: stream, context)
    if now - malformed.since > Self.malformedTime { malformed = (0, now) }
    malformed.count += 1
    guard malformed.count > Self.mostMalformed else { return }
    write(
      .goAway(lastStreamID: .rootStream, errorCode: .enhanceYourCalm, opaqueData: nil), to: .rootStream,
      context)
    flush(context)
    proxy.configuration.logger.info(
      "HTTP/2 connection of \(client.text ?? "a client") closed: too many malformed messages")
    context.close(promise: nil)
  }

  /// Answers a plain request from memory.
  ///
  /// - Returns: false if the request takes the slow path.
  private func answer(
    _ frame: HTTP2Frame.FramePayload.Headers, of stream: HTTP2StreamID, _ context: ChannelHandlerContext
  ) -> Bool {
    guard let lookup, !proxy.registry.isDraining, context.channel.isWritable,
      lookup.answers.plain.find(in: frame.headers, isTrusted: client.isTrusted)
    else { return false }
    let started = NIODeadline.now()
    guard let content = lookup.content(for: lookup.answers.plain.key, { self.head(frame) }),
      let headers = content.headers
    else { return false }
    let size = content.bytes.readableBytes
    guard streams.waitingBytes + size <= Self.mostWaitingBytes else { return false }
    let hasContent = content.method != .head && ResponseWriter.hasContent(content.status)
    lastUse = started
    let silence = content.silence ?? proxy.configuration.bodyTimeout
    streams.addAnswered(stream, size: size, deadline: started + silence)
    write(.headers(.init(headers: headers, endStream: !hasContent)), to: stream, context)
    if hasContent {
      var bytes = IOData.byteBuffer(content.bytes)
      while let part = bytes.takeFrame() {
        write(.data(.init(data: .byteBuffer(part))), to: stream, context)
      }
      write(.data(.init(data: bytes, endStream: true)), to: stream, context)
    }
    flushForNext(context)
    log.add(content, started: started) { head(frame) }
    return true
  }

  /// Sends answers whose bytes leave too little room for the next one. Not once that one has come: NIOHTTP2 tells of a
  /// stream behind its head, or within a flush, and the multiplexer has to hear of a stream that takes the slow path.
  private func flushForNext(_ context: ChannelHandlerContext) {
    if streams.waitingBytes + HitLookup.longestBody > Self.mostWaitingBytes { flush(context) }
  }

  /// Counts a request as an exchange of its client, or refuses it without a channel and a task, so that the client holds
  /// little with it.
  ///
  /// - Returns: false if it is refused.
  private func begin(
    _ frame: HTTP2Frame.FramePayload.Headers, of stream: HTTP2StreamID, _ context: ChannelHandlerContext
  ) -> Bool {
    lastUse = .now()
    do throws(Refusal) {
      let fields = client.isTrusted ? HTTPFields(forwarding: frame.headers) : [:]
      streams.addExchange(stream, try proxy.registry.beginExchange(of: client, fields))
      return true
    } catch {
      let bytes = refuse(error, frame, of: stream, context)
      log.add(
        head(frame), status: error.status.code, bytes: Int64(bytes), started: lastUse,
        outcome: error.label.rawValue, reason: .refused(error.message))
      return false
    }
  }

  /// Sends a refusal. It has no text if the rest of the request is on its way, because the reset would overtake the text.
  ///
  /// - Returns: the number of bytes of the text.
  private func refuse(
    _ refusal: Refusal, _ frame: HTTP2Frame.FramePayload.Headers, of stream: HTTP2StreamID,
    _ context: ChannelHandlerContext
  ) -> Int {
    let text = ByteBuffer(string: refusal.text)
    let hasRoom = streams.waitingBytes + text.readableBytes <= Self.mostWaitingBytes
    let length = frame.endStream && hasRoom ? text.readableBytes : 0
    let size = frame.headers.first(name: ":method") == "HEAD" ? 0 : length
    streams.addAnswered(stream, size: size, deadline: lastUse + proxy.configuration.bodyTimeout)
    var fields: HTTPFields = [.date: SystemClock().now.httpDate, .contentLength: "\(length)"]
    if length > 0 { fields[.contentType] = "text/plain; charset=utf-8" }
    let headers = HPACKHeaders(refusal.status, fields)
    write(.headers(.init(headers: headers, endStream: size == 0)), to: stream, context)
    if size > 0 {
      write(.data(.init(data: .byteBuffer(text), endStream: true)), to: stream, context)
      flushForNext(context)
    }
    // The response is complete without the rest of the request (RFC 9113 §8.1).
    if !frame.endStream { write(.rstStream(.noError), to: stream, context) }
    return size
  }

  private func head(_ frame: HTTP2Frame.FramePayload.Headers) -> RequestHead? {
    try? RequestHead(
      frame, limits: proxy.configuration.limits, isForward: Routing.isForward(proxy.mode))
  }

  private func write(
    _ payload: HTTP2Frame.FramePayload, to stream: HTTP2StreamID, _ context: ChannelHandlerContext
  ) {
    mustFlush = true
    context.write(wrapOutboundOut(HTTP2Frame(streamID: stream, payload: payload)), promise: nil)
  }

  private func flush(_ context: ChannelHandlerContext) {
    guard mustFlush else { return }
    mustFlush = false
    context.flush()
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    flush(context)
    if streams.nextDeadline != nil { arm(context) }
    context.fireChannelReadComplete()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    switch event {
    case let event as StreamClosedEvent:
      switch streams.end(event.streamID) {
      case .answered: return management.streamClosed(event.streamID, channel: context.channel)
      case .exchange(let counted):
        ends.closed(event.streamID)
        lastUse = .now()
        proxy.registry.end(counted)
      // The management of the connection counts streams that began.
      case .unknown: return
      }
    case let event as NIOHTTP2WindowUpdatedEvent:
      guard concernsMultiplexer(event) else { return }
    case let event as NIOHTTP2StreamCreatedEvent where streams.isAnswered(event.streamID):
      return management.streamCreated(event.streamID, channel: context.channel)
    default: break
    }
    context.fireUserInboundEventTriggered(event)
  }

  /// Whether the multiplexer acts on the change of a window: it knows no answered streams, and widens only inbound windows.
  private func concernsMultiplexer(_ event: NIOHTTP2WindowUpdatedEvent) -> Bool {
    guard event.streamID == .rootStream else { return !streams.isAnswered(event.streamID) }
    if let bytes = event.outboundWindowSize { ends.connectionTakes(bytes) }
    let isNew = event.inboundWindowSize != inboundWindow
    inboundWindow = event.inboundWindowSize
    return isNew
  }

  func channelInactive(context: ChannelHandlerContext) {
    timer?.scheduled.cancel()
    timer = nil
    for counted in streams.exchanges.values { proxy.registry.end(counted) }
    streams = HTTP2ConnectionStreams()
    context.fireChannelInactive()
  }

  // MARK: Time

  /// Sets the timer for the next answer that must have left, or for the end of a connection without streams.
  private func arm(_ context: ChannelHandlerContext) {
    let lastUse = streams.isEmpty ? lastUse : .now()
    let end = lastUse + idlePatience
    let due = streams.nextDeadline.map { min($0, end) } ?? end
    if let timer, timer.due <= due { return }
    timer?.scheduled.cancel()
    let scheduled = context.eventLoop.assumeIsolated().scheduleTask(deadline: due) {
      self.timer = nil
      self.endLate(context)
    }
    timer = (due, scheduled)
  }

  private func endLate(_ context: ChannelHandlerContext) {
    let now = NIODeadline.now()
    for id in streams.late(at: now) { write(.rstStream(.cancel), to: id, context) }
    flush(context)
    if streams.isEmpty, lastUse + idlePatience <= now {
      // The client was asked to end the connection, and has not.
      if hasAskedForEnd { return context.close(promise: nil) }
      hasAskedForEnd = true
      context.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
    }
    arm(context)
  }
}

extension HTTPFields {
  /// The fields with which a trusted proxy names its client.
  fileprivate init(forwarding headers: HPACKHeaders) {
    self.init()
    for name in [HTTPField.Name.xForwardedFor, .forwarded] {
      self[values: name] = headers[name.canonicalName]
    }
  }
}
