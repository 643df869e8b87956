/// The amount of unfinished work of a cache, for tests that check that no work is left.
package struct UnfinishedWork: Sendable, Hashable {
  /// Keys for which a leader is asking the origin.
  package var flights = 0
  /// Followers that wait for a leader.
  package var waiters = 0
  /// Running transfers, counted once for each of their targets.
  package var transfers = 0
  /// Running background tasks.
  package var backgroundTasks = 0

  /// No unfinished work.
  package init() {}
}

extension HTTPCache {
  /// The unfinished work at this moment.
  package var unfinishedWork: UnfinishedWork {
    var work = UnfinishedWork()
    (work.flights, work.waiters) = coalescing.counts
    work.transfers = running.count
    work.backgroundTasks = background.count
    return work
  }
}
