import HTTPCacheStore

/// Uses, counts and refusals that are not in the index yet. The store writes them in batches, never one by one.
struct PendingChanges: Sendable {
  /// The last use of each key, by the hash of the key.
  var touches: [UInt64: Int64] = [:]
  var counts = CacheCounts()
  var countedSince = 0
  var refusals = RecentRefusals(limit: 256)
  /// Whether a job that writes the batch is queued.
  var isScheduled = false

  static let touchLimit = 1_024
  static let countLimit = 1_024
  static let refusalLimit = 128

  var isEmpty: Bool { touches.isEmpty && countedSince == 0 && refusals.notes.isEmpty }

  /// Whether a batch must be scheduled now. Returns true once until the batch is written.
  mutating func shouldSchedule() -> Bool {
    let isMuch =
      touches.count >= Self.touchLimit || countedSince >= Self.countLimit
      || refusals.notes.count >= Self.refusalLimit
    guard !isScheduled, isMuch else { return false }
    isScheduled = true
    return true
  }

  /// Returns the changes and removes them from here.
  mutating func take() -> PendingChanges {
    let taken = self
    self = PendingChanges()
    return taken
  }

  /// Puts changes back that could not be written. Newer changes win.
  mutating func putBack(_ other: PendingChanges) {
    touches.merge(other.touches) { newer, _ in newer }
    counts += other.counts
    countedSince += other.countedSince
    refusals.putBack(other.refusals.notes)
  }
}
