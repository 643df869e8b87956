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
    guard begins(.active) else { return }
    context.fireChannelActive()
    deliverWaiting(context)
  }

  func channelInactive(context: ChannelHandlerContext) {
    guard begins(.inactive) else { return }
    context.fireChannelInactive()
    deliverWaiting(context)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard begins(.read(data)) else { return }
    context.fireChannelRead(data)
    deliverWaiting(context)
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    guard begins(.readComplete) else { return }
    context.fireChannelReadComplete()
    deliverWaiting(context)
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    guard begins(.user(event)) else { return }
    context.fireUserInboundEventTriggered(event)
    deliverWaiting(context)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    guard begins(.error(error)) else { return }
    context.fireErrorCaught(error)
    deliverWaiting(context)
  }

  /// Whether an event may be delivered now; else it waits.
  private func begins(_ event: @autoclosure () -> Event) -> Bool {
    guard isDelivering else {
      isDelivering = true
      return true
    }
    waiting.append(event())
    return false
  }

  private func deliverWaiting(_ context: ChannelHandlerContext) {
    while !waiting.isEmpty {
      let events = waiting
      waiting = []
      for event in events { deliver(event, context) }
    }
    isDelivering = false
  }

  private func deliver(_ event: Event, _ context: ChannelHandlerContext) {
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
