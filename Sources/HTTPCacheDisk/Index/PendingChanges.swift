import HTTPCacheStore

/// Uses, counts and refusals that are not in the index yet: they are written by the batch, never one by one.
struct PendingChanges: Sendable {
  /// When keys were last used, by hash.
  var touches: [UInt64: Int64] = [:]
  var counts = CacheCounts()
  var countedSince = 0
  var refusals = RecentRefusals(limit: 256)
  /// Whether a job that writes them is on its way.
  var isScheduled = false

  static let touchLimit = 1_024
  static let countLimit = 1_024
  static let refusalLimit = 128

  var isEmpty: Bool { touches.isEmpty && countedSince == 0 && refusals.notes.isEmpty }

  /// Whether it is time to write; says so once until it was done.
  mutating func shouldSchedule() -> Bool {
    let isMuch =
      touches.count >= Self.touchLimit || countedSince >= Self.countLimit
      || refusals.notes.count >= Self.refusalLimit
    guard !isScheduled, isMuch else { return false }
    isScheduled = true
    return true
  }

  /// Takes what is there.
  mutating func take() -> PendingChanges {
    let taken = self
    self = PendingChanges()
    return taken
  }

  /// Puts back what could not be written; what is newer wins.
  mutating func putBack(_ other: PendingChanges) {
    touches.merge(other.touches) { newer, _ in newer }
    counts += other.counts
    countedSince += other.countedSince
    refusals.putBack(other.refusals.notes)
  }
}
