public import HTTPCacheSemantics
import Synchronization

/// The invalidations and removals of a store that one process uses, for comparison with running requests.
///
/// A store notes each selection *before* it looks for matching entries, and calls `isOvertaken` in the
/// critical section that makes a response visible: either the invalidation finds the response, or the
/// response is overtaken.
///
/// Each invalidation has a number. A table keeps the number of the last invalidation for classes of scopes
/// (targets, origins, partitions, groups). Because the table has a fixed size, an invalidation may overtake a
/// response that it does not match; that response is then validated once more than needed.
public final class InvalidationLog: Sendable {
  private final class Counter: Sendable {
    let value = Atomic<UInt64>(0)
  }

  private let source = UInt64.random(in: 1 ... .max)
  private let last = Counter()
  private let everything = Counter()
  private let classes = (0..<1_024).map { _ in Counter() }

  /// Makes an empty log.
  public init() {}

  /// The ticket of a request that is about to be sent.
  public func ticket() -> InvalidationTicket { ticket(seen: 0) }

  /// The ticket of a request that is about to be sent.
  ///
  /// - Parameter seen: the highest number that the store has given to a change.
  package func ticket(seen: UInt64) -> InvalidationTicket {
    InvalidationTicket(source: source, number: last.value.load(ordering: .acquiring), seen: seen)
  }

  /// Notes that matching entries are invalidated or removed.
  public func note(_ selection: CacheSelection) {
    for scope in InvalidationScope.all(of: selection) {
      let number = last.value.add(1, ordering: .acquiringAndReleasing).newValue
      let counter = scope == .everything ? everything : counter(scope.hash)
      counter.value.max(number, ordering: .acquiringAndReleasing)
    }
  }

  /// Whether a selection noted after a ticket was taken may match a response.
  ///
  /// - Parameters:
  ///   - key: the key of the response.
  ///   - groups: the groups of the response (RFC 9875); nil before they are known: it may be in any group.
  ///   - ticket: from this log. A ticket of another log is never overtaken here: its own store compares it.
  public func isOvertaken(_ key: CacheKey, groups: [String]?, since ticket: InvalidationTicket) -> Bool {
    guard ticket.source == source else { return false }
    // No selection was noted since: the usual case.
    if last.value.load(ordering: .acquiring) == ticket.number { return false }
    if everything.value.load(ordering: .acquiring) > ticket.number { return true }
    return InvalidationScope.contains(of: key, groups: groups, requestTarget: ticket.requestTarget) {
      counter($0).value.load(ordering: .acquiring) > ticket.number
    }
  }

  private func counter(_ hash: UInt64) -> Counter { classes[Int((hash >> 24) & 1_023)] }
}
