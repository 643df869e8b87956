import NIOCore

/// Delivers the events of a connection one after the other. The first handler of each connection, of clients and to
/// origins.
///
/// A flush that fails makes NIO read what the socket still has, and close the connection, before the flush returns. A
/// handler that flushes while it handles bytes would get the next bytes within that call. Here they wait until the
/// handlers have returned: no handler of a connection is re-entered by a write or flush of its own.
final class EventOrder: ChannelInboundHandler {
  typealias InboundIn = NIOAny

  private enum Event {
    case active, inactive, readComplete
    case read(NIOAny)
    case user(Any)
    case error(any Error)
  }

  private var isDelivering = false
  /// The events that came while others were delivered.
  private var waiting: [Event] = []

  func channelActive(context: ChannelHandlerContext) {
    deliver(.active, context) { context.fireChannelActive() }
  }

  func channelInactive(context: ChannelHandlerContext) {
    deliver(.inactive, context) { context.fireChannelInactive() }
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    deliver(.read(data), context) { context.fireChannelRead(data) }
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    deliver(.readComplete, context) { context.fireChannelReadComplete() }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    deliver(.user(event), context) { context.fireUserInboundEventTriggered(event) }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    deliver(.error(error), context) { context.fireErrorCaught(error) }
  }

  /// Delivers an event with `fire`, and then the events that came meanwhile. An event within another's delivery waits.
  private func deliver(
    _ event: @autoclosure () -> Event, _ context: ChannelHandlerContext, _ fire: () -> Void
  ) {
    if isDelivering { return waiting.append(event()) }
    isDelivering = true
    fire()
    while !waiting.isEmpty {
      let events = waiting
      waiting = []
      for event in events { deliver(waited: event, context) }
    }
    isDelivering = false
  }

  private func deliver(waited event: Event, _ context: ChannelHandlerContext) {
    switch event {
    case .active: context.fireChannelActive()
    case .inactive: context.fireChannelInactive()
    case .readComplete: context.fireChannelReadComplete()
    case .read(let data): context.fireChannelRead(data)
    case .user(let event): context.fireUserInboundEventTriggered(event)
    case .error(let error): context.fireErrorCaught(error)
    }
  }
}
