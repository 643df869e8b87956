import HTTPCacheStore
import Synchronization

/// The missing ranges of a file, for the tasks that fetch them at once.
final class RangePlan: Sendable {
  /// The ranges that no task has taken.
  private let open: Mutex<[Range<Int64>]>
  private let workers: Int

  /// The shortest and the longest range of one request, if as much is missing.
  private static let requests: ClosedRange<Int64> = 1 << 20...64 << 20

  /// - Parameter workers: the number of tasks that take ranges.
  init(_ missing: [Range<Int64>], workers: Int) {
    open = Mutex(missing)
    self.workers = max(1, workers)
  }

  /// The next range to ask for; nil if none is left. Ranges become shorter towards the end, so that no task is
  /// left alone with a long one.
  func take() -> Range<Int64>? {
    open.withLock { open in
      guard let first = open.first else { return nil }
      let missing = StoredRanges.count(open)
      // A single task asks for all that is missing in one place.
      let share = workers == 1 ? missing : missing / Int64(2 * workers)
      let length = workers == 1 ? share : min(max(share, Self.requests.lowerBound), Self.requests.upperBound)
      let end = first.lowerBound + min(max(length, 1), first.upperBound - first.lowerBound)
      if end == first.upperBound { open.removeFirst() } else { open[0] = end..<first.upperBound }
      return first.lowerBound..<end
    }
  }

  /// Gives back the end of a range that the origin left out.
  func giveBack(_ range: Range<Int64>) {
    if !range.isEmpty { open.withLock { $0 = StoredRanges.union($0 + [range]) } }
  }
}
