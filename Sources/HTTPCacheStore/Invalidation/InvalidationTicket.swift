/// When a request was sent, in terms of what its store had invalidated and removed by then.
///
/// A request takes a ticket before it goes to the upstream. The store compares the ticket when it commits or
/// freshens the response: a response that was asked for before an invalidation must not be reused after the
/// invalidation without validation (RFC 9111 §4.4), however late its first byte comes.
public struct InvalidationTicket: Sendable, Hashable {
  /// The counters that the ticket was taken from. A ticket tells nothing about other counters.
  package let source: UInt64
  /// The number of the last invalidation before the request.
  package let number: UInt64
  /// The target that was asked for, if the response is stored under the target of another key.
  package var requestTarget: String?

  package init(source: UInt64, number: UInt64, requestTarget: String? = nil) {
    self.source = source
    self.number = number
    self.requestTarget = requestTarget
  }

  /// A ticket older than every invalidation.
  package static let oldest = InvalidationTicket(source: 0, number: 0)
}
