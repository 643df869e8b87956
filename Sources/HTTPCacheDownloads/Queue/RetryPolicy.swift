import HTTPCacheSemantics
import HTTPCaching

/// Decides what follows a failed attempt: a pure function of the download, the failure and the time.
struct RetryPolicy: Sendable {
  let configuration: DownloadQueue.Configuration

  /// The state of a download after a failed attempt.
  ///
  /// - Parameters:
  ///   - item: the download, with this attempt counted in `tries`.
  ///   - failure: why the attempt failed.
  ///   - retryAfter: the seconds that the origin asked to wait; nil if it did not.
  func state(
    of item: DownloadItem, after failure: DownloadFailure, retryAfter: Int64?, now: Timestamp
  ) -> DownloadState {
    guard failure.isTemporary, item.tries < configuration.tryLimit else { return .failed(failure) }
    let wait = self.wait(tries: item.tries, retryAfter: retryAfter)
    let time = now.adding(wait)
    if let first = item.firstTry, time - first > configuration.timeLimit { return .failed(failure) }
    return .waiting(.retry(at: time, after: failure))
  }

  /// Seconds to wait: twice as long for each try without new bytes, of which a random half is left out; never
  /// less than the origin asks for, within its limit.
  func wait(tries: Int, retryAfter: Int64?) -> Int64 {
    let longest = max(1, configuration.longestWait)
    let first = max(1, configuration.firstWait)
    let doublings = min(max(0, tries - 1), 40)
    let (product, overflow) = first.multipliedReportingOverflow(by: 1 << Int64(doublings))
    let full = overflow ? longest : min(longest, product)
    let share = min(1, max(0, configuration.random()))
    let backoff = max(1, full - Int64(Double(full) / 2 * share))
    guard let retryAfter else { return backoff }
    return max(backoff, min(retryAfter, configuration.longestRetryAfter))
  }

  /// The seconds until the time of a retry that an earlier process set. A clock that was set back makes it no
  /// longer than the longest wait.
  func remaining(until time: Timestamp, now: Timestamp) -> Int64 {
    min(max(0, time - now), max(configuration.longestWait, configuration.longestRetryAfter))
  }
}
