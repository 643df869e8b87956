import NIOCore
import NIOHTTP2

/// Begins a few streams of a connection in each of its turns (`LoopTurns`), and keeps what comes for the others until then:
/// the steps of a hundred requests that arrive at once would run before any other connection is read.
///
/// A stream that its client resets before its turn never begins, and costs the origin nothing (RFC 9113 §10.5).
///
/// Stands behind `HTTP2RequestHandler`, which has counted these streams, before what manages the connection and its
/// multiplexer. What it passes on may end streams at once: it keeps nothing of its state across such a call.
final class StreamTurns: ChannelInboundHandler {
  typealias InboundIn = HTTP2Frame
  typealias InboundOut = HTTP2Frame

  /// Maximum number of streams that begin in one turn.
  static let mostBegunAtOnce = 8

  private enum Item {
    case frame(HTTP2Frame)
    case event(Any)
  }

  /// The frames and events of streams that wait, in order.
  private var waiting = CircularBuffer<(stream: HTTP2StreamID, item: Item)>()
  private var begunAtOnce = 0
  /// The last stream that has begun.
  private var latest = HTTP2StreamID.rootStream
  private let turns: LoopTurns
  private var awaitsTurn = false
  /// Whether the connection ends: its streams begin at once, so that all of them are known.
  private var isEnding = false
  private var isGone = false

  init(_ turns: LoopTurns) { self.turns = turns }

  private var hasBegunMost: Bool { begunAtOnce >= Self.mostBegunAtOnce && !isEnding }

  /// Whether a stream waits. A client numbers its streams upwards (RFC 9113 §5.1.1): all after the first one wait too.
  private func isWaiting(_ stream: HTTP2StreamID) -> Bool {
    guard let first = waiting.first else { return false }
    return stream >= first.stream
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let frame = unwrapInboundIn(data)
    guard isWaiting(frame.streamID) || (hasBegunMost && begins(frame)) else { return pass(frame, context) }
    switch frame.payload {
    // It may name a stream that never begins (RFC 9113 §5.3.2), and has no effect here.
    case .priority: pass(frame, context)
    // An event tells the end of the stream as well.
    case .rstStream: break
    default: waiting.append((frame.streamID, .frame(frame)))
    }
  }

  /// Whether a frame begins a stream.
  private func begins(_ frame: HTTP2Frame) -> Bool {
    if case .headers = frame.payload { frame.streamID > latest } else { false }
  }

  private func pass(_ frame: HTTP2Frame, _ context: ChannelHandlerContext) {
    if begins(frame) {
      latest = frame.streamID
      begunAtOnce += 1
    }
    context.fireChannelRead(wrapInboundOut(frame))
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    context.fireChannelReadComplete()
    guard !awaitsTurn else { return }
    guard !waiting.isEmpty else { return begunAtOnce = 0 }
    awaitsTurn = true
    let own = NIOLoopBound((handler: self, context: context), eventLoop: context.eventLoop)
    turns.enqueue {
      let (handler, context) = own.value
      handler.awaitsTurn = false
      guard !handler.isGone else { return }
      handler.beginTurn(context)
      handler.channelReadComplete(context: context)
    }
  }

  /// Begins the streams of a turn.
  private func beginTurn(_ context: ChannelHandlerContext) {
    begunAtOnce = 0
    while let (stream, item) = waiting.first, !hasBegunMost || stream <= latest {
      waiting.removeFirst()
      switch item {
      case .frame(let frame): pass(frame, context)
      case .event(let event): context.fireUserInboundEventTriggered(event)
      }
    }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    switch event {
    case let event as StreamClosedEvent where isWaiting(event.streamID):
      waiting.removeAll { $0.stream == event.streamID }
    case let event as NIOHTTP2StreamCreatedEvent where isWaiting(event.streamID):
      waiting.append((event.streamID, .event(event)))
    case let event as NIOHTTP2WindowUpdatedEvent where isWaiting(event.streamID):
      waiting.append((event.streamID, .event(event)))
    case is ChannelShouldQuiesceEvent:
      isEnding = true
      beginTurn(context)
      context.fireUserInboundEventTriggered(event)
    default: context.fireUserInboundEventTriggered(event)
    }
  }

  func channelInactive(context: ChannelHandlerContext) {
    isGone = true
    waiting.removeAll()
    context.fireChannelInactive()
  }
}
