import NIOCore
import NIOHTTP2

/// Begins a few streams of a connection in each of its turns (`LoopTurns`), and keeps what comes for the others until then:
/// the steps of a hundred requests that arrive at once would run before any other connection is read.
///
/// A stream that its client resets before its turn never begins, and costs the origin nothing (RFC 9113 §10.5).
///
/// Stands before the multiplexer and behind what counts the streams of a connection, for which a stream that waits is open.
/// What it passes on may end streams at once: it reads its state anew after each such call.
final class StreamTurns: ChannelInboundHandler {
  typealias InboundIn = HTTP2Frame
  typealias InboundOut = HTTP2Frame

  /// Maximum number of streams that begin in one turn.
  static let mostBegunAtOnce = 8

  private enum Item {
    case frame(HTTP2Frame)
    case event(Any)
  }

  /// A stream that has not begun, with all that has come for it, in order.
  private struct Waiting {
    let id: HTTP2StreamID
    var items: [Item]
  }

  /// The event that begins a turn. It passes all handlers of the connection, so that `EventOrder` keeps it apart from others.
  private struct Turn {}

  private let turns: LoopTurns
  private var waiting: [Waiting] = []
  private var begunAtOnce = 0
  /// The last stream that has begun.
  private var latest = HTTP2StreamID.rootStream
  /// The stream that begins, as long as it has not ended.
  private var beginning: HTTP2StreamID?
  private var awaitsTurn = false

  init(_ turns: LoopTurns) { self.turns = turns }

  private func index(of stream: HTTP2StreamID) -> Int? {
    waiting.isEmpty ? nil : waiting.lastIndex { $0.id == stream }
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let frame = unwrapInboundIn(data)
    if let index = index(of: frame.streamID) {
      // An event tells the end of the stream as well.
      if case .rstStream = frame.payload { return }
      return waiting[index].items.append(.frame(frame))
    }
    guard begins(frame) else { return context.fireChannelRead(data) }
    if waiting.isEmpty, begunAtOnce < Self.mostBegunAtOnce { return begin(frame, context) }
    waiting.append(Waiting(id: frame.streamID, items: [.frame(frame)]))
  }

  /// Whether a frame is the first one of a stream.
  private func begins(_ frame: HTTP2Frame) -> Bool {
    if case .headers = frame.payload { frame.streamID > latest } else { false }
  }

  private func begin(_ frame: HTTP2Frame, _ context: ChannelHandlerContext) {
    latest = frame.streamID
    begunAtOnce += 1
    context.fireChannelRead(wrapInboundOut(frame))
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    context.fireChannelReadComplete()
    guard !awaitsTurn else { return }
    guard !waiting.isEmpty else { return begunAtOnce = 0 }
    awaitsTurn = true
    let channel = context.channel
    turns.enqueue { channel.pipeline.fireUserInboundEventTriggered(Turn()) }
  }

  private func beginTurn(_ context: ChannelHandlerContext) {
    awaitsTurn = false
    begunAtOnce = 0
    guard !waiting.isEmpty else { return }
    while begunAtOnce < Self.mostBegunAtOnce, !waiting.isEmpty {
      let stream = waiting.removeFirst()
      beginning = stream.id
      for item in stream.items where beginning == stream.id {
        switch item {
        case .frame(let frame) where begins(frame): begin(frame, context)
        case .frame(let frame): context.fireChannelRead(wrapInboundOut(frame))
        case .event(let event): context.fireUserInboundEventTriggered(event)
        }
      }
      beginning = nil
    }
    channelReadComplete(context: context)
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    switch event {
    case is Turn: return beginTurn(context)
    case let event as StreamClosedEvent:
      if let index = index(of: event.streamID) {
        waiting.remove(at: index)
        return
      }
      if beginning == event.streamID { beginning = nil }
    case let event as NIOHTTP2StreamCreatedEvent:
      if keep(event, for: event.streamID) { return }
    case let event as NIOHTTP2WindowUpdatedEvent:
      if keep(event, for: event.streamID) { return }
    default: break
    }
    context.fireUserInboundEventTriggered(event)
  }

  /// Keeps an event if its stream waits.
  private func keep(_ event: Any, for stream: HTTP2StreamID) -> Bool {
    guard let index = index(of: stream) else { return false }
    waiting[index].items.append(.event(event))
    return true
  }

  func channelInactive(context: ChannelHandlerContext) {
    waiting = []
    context.fireChannelInactive()
  }
}
