public import HTTPCacheSemantics
import Synchronization

/// What a store of one process has invalidated and removed, as far as responses on their way have to know.
///
/// A store notes each selection *before* it looks for entries that match, and asks `isOvertaken` in the same
/// critical section that makes a response visible: a response is then either found by the invalidation, or
/// overtaken by it.
///
/// Each invalidation has a number; a table keeps, for classes of scopes (targets, origins, partitions, groups),
/// the number of the last invalidation. The table has a fixed size, so that an invalidation may overtake a
/// response that it does not match: that response is validated once more than needed.
public final class InvalidationLog: Sendable {
  private final class Counter: Sendable {
    let value = Atomic<UInt64>(0)
  }

  private let source = UInt64.random(in: 1 ... .max)
  private let last = Counter()
  private let everything = Counter()
  private let classes = (0..<1_024).map { _ in Counter() }

  /// Makes a log that has noted nothing.
  public init() {}

  /// The ticket of a request that is about to be sent.
  public func ticket() -> InvalidationTicket { ticket(seen: 0) }

  /// The ticket of a request that is about to be sent.
  ///
  /// - Parameter seen: the highest number that the store has given to a change.
  package func ticket(seen: UInt64) -> InvalidationTicket {
    InvalidationTicket(source: source, number: last.value.load(ordering: .acquiring), seen: seen)
  }

  /// Notes that what matches is invalidated or removed.
  public func note(_ selection: CacheSelection) {
    for scope in InvalidationScope.all(of: selection) {
      let number = last.value.add(1, ordering: .acquiringAndReleasing).newValue
      let counter = scope == .everything ? everything : counter(scope.hash)
      counter.value.max(number, ordering: .acquiringAndReleasing)
    }
  }

  /// Whether a response may match something that was noted after a ticket was taken.
  ///
  /// - Parameters:
  ///   - key: of the response.
  ///   - groups: of the response (RFC 9875); nil before they are known, when it may belong to any.
  ///   - ticket: from this log. Nothing overtakes a ticket of another one: the store that gave it compares it.
  public func isOvertaken(_ key: CacheKey, groups: [String]?, since ticket: InvalidationTicket) -> Bool {
    guard ticket.source == source else { return false }
    // Nothing at all was noted since: the usual case.
    if last.value.load(ordering: .acquiring) == ticket.number { return false }
    if everything.value.load(ordering: .acquiring) > ticket.number { return true }
    return InvalidationScope.contains(of: key, groups: groups, requestTarget: ticket.requestTarget) {
      counter($0).value.load(ordering: .acquiring) > ticket.number
    }
  }

  private func counter(_ hash: UInt64) -> Counter { classes[Int((hash >> 24) & 1_023)] }
}
