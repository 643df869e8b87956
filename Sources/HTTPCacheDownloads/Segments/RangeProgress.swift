import HTTPCacheStore
import Synchronization

/// The missing ranges of a file and those that have arrived, for the tasks that fetch its ranges at once.
final class RangeProgress: Sendable {
  private struct State {
    var record: PartRecord
    /// The ranges that no task has taken.
    var open: [Range<Int64>]
    var unsaved: Int64 = 0
    var unsynced: Int64 = 0
    var isSyncing = false
  }

  private let state: Mutex<State>
  private let workers: Int

  /// A record goes to the list after this many bytes, so that a killed process loses no more.
  private static let saveStep: Int64 = 256 << 10
  private static let syncStep: Int64 = 64 << 20
  /// The shortest and the longest range of one request, if as much is missing.
  private static let requests: ClosedRange<Int64> = 1 << 20...64 << 20

  /// - Parameter workers: the number of tasks that take ranges.
  init(_ record: PartRecord, workers: Int) {
    var record = record
    record.written = record.kept
    record.synced = record.kept
    record.boot = SystemRun.name
    self.workers = max(1, workers)
    state = Mutex(State(record: record, open: PartRecord.missing(record.written, of: record.length)))
  }

  var record: PartRecord { state.withLock { $0.record } }
  var isComplete: Bool { state.withLock { $0.record.isComplete } }
  /// Bytes that have arrived.
  var received: Int64 { state.withLock { StoredRanges.count($0.record.written) } }

  /// The next range to ask for; nil if none is left. Ranges become shorter towards the end, so that no task is
  /// left alone with a long one.
  func take() -> Range<Int64>? {
    state.withLock { state in
      guard let first = state.open.first else { return nil }
      let missing = StoredRanges.count(state.open)
      // A single task asks for all that is missing in one place.
      let share = workers == 1 ? missing : missing / Int64(2 * workers)
      let length = workers == 1 ? share : min(max(share, Self.requests.lowerBound), Self.requests.upperBound)
      let end = first.lowerBound + min(max(length, 1), first.upperBound - first.lowerBound)
      if end == first.upperBound { state.open.removeFirst() } else { state.open[0] = end..<first.upperBound }
      return first.lowerBound..<end
    }
  }

  /// Takes a range that was asked for before anything was known.
  func take(_ range: Range<Int64>) {
    state.withLock { state in
      state.open = PartRecord.missing(
        StoredRanges.union(state.record.written + [range]), of: state.record.length)
    }
  }

  /// Gives back the end of a range that the origin left out.
  func giveBack(_ range: Range<Int64>) {
    if !range.isEmpty { state.withLock { $0.open = StoredRanges.union($0.open + [range]) } }
  }

  /// Notes bytes that were written.
  ///
  /// - Returns: the record, if it is time to save it.
  func wrote(_ range: Range<Int64>) -> PartRecord? {
    state.withLock { state in
      state.record.written = StoredRanges.union(state.record.written + [range])
      let count = range.upperBound - range.lowerBound
      state.unsaved += count
      state.unsynced += count
      guard state.unsaved >= Self.saveStep else { return nil }
      state.unsaved = 0
      return state.record
    }
  }

  /// Whether it is time to sync the file: the bytes that are then on the disk; nil if not.
  func beginSync() -> [Range<Int64>]? {
    state.withLock { state in
      guard state.unsynced >= Self.syncStep, !state.isSyncing else { return nil }
      (state.isSyncing, state.unsynced) = (true, 0)
      return state.record.written
    }
  }

  /// Notes the bytes that `beginSync` returned.
  func endSync(_ ranges: [Range<Int64>]) {
    state.withLock { ($0.record.synced, $0.isSyncing) = (ranges, false) }
  }
}
