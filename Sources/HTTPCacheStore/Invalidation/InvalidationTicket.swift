import Synchronization

/// The state of a store's invalidations, removals and changes when a request was sent.
///
/// A request takes a ticket before it goes to the upstream. The store compares the ticket when it commits or
/// freshens the response: a response to a request that was sent before an invalidation must not be reused
/// without validation (RFC 9111 §4.4), and must not replace a more recent response (§4), however late its
/// last byte arrives.
public struct InvalidationTicket: Sendable, Hashable {
  private static let lastMoment = Atomic<UInt64>(0)

  /// The counters that the ticket was taken from. It cannot be compared with other counters.
  package let source: UInt64
  /// The number of the last invalidation before the request, or before the last change that its response made itself.
  package let number: UInt64
  /// The number of the last invalidation before the request.
  package private(set) var sent: UInt64
  /// The highest number that the store had given to a change before the request.
  package let seen: UInt64
  /// When the ticket was taken, by `nextMoment`.
  package let moment: UInt64
  /// When the response became visible in memory, by `nextMoment`; 0 before that.
  package private(set) var visible: UInt64 = 0
  /// The target of the request, if the response is stored under another target.
  package var requestTarget: String?

  package init(source: UInt64, number: UInt64, seen: UInt64 = 0, moment: UInt64 = nextMoment()) {
    self.source = source
    self.number = number
    sent = number
    self.seen = seen
    self.moment = moment
  }

  /// A number that rises with each call in this process. It orders requests and changes in memory.
  package static func nextMoment() -> UInt64 { lastMoment.add(1, ordering: .relaxed).newValue }

  /// This ticket for the request of an earlier one, whose response has made changes itself: they do not overtake it.
  package func forRequest(of earlier: InvalidationTicket?) -> InvalidationTicket {
    guard let earlier else { return self }
    var ticket = self
    // Of other counters nothing is known.
    ticket.sent = earlier.source == source ? earlier.sent : 0
    ticket.requestTarget = earlier.requestTarget
    return ticket
  }

  /// The ticket of a response that becomes visible in memory now.
  package func madeVisible() -> InvalidationTicket {
    var ticket = self
    ticket.visible = Self.nextMoment()
    return ticket
  }
}
