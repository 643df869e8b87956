/// How much of the work of a cache is not done, for tests that no work is left.
package struct UnfinishedWork: Sendable, Hashable {
  /// Keys for which a leader asks the origin.
  package var flights = 0
  /// Requests that wait for a leader.
  package var waiters = 0
  /// Transfers that are running, once for each target that they are found by.
  package var transfers = 0
  /// Background tasks that have not ended.
  package var backgroundTasks = 0

  /// Nothing is unfinished.
  package init() {}
}

extension HTTPCache {
  /// What is not done at this moment.
  package var unfinishedWork: UnfinishedWork {
    var work = UnfinishedWork()
    (work.flights, work.waiters) = coalescing.counts
    work.transfers = running.count
    work.backgroundTasks = background.count
    return work
  }
}
