import HTTPCacheStore

/// Uses and counts that are not in the index yet: they are written by the batch, never one by one.
struct PendingChanges: Sendable {
  /// When keys were last used, by hash.
  var touches: [UInt64: Int64] = [:]
  var counts = CacheCounts()
  var countedSince = 0
  /// Whether a job that writes them is on its way.
  var isScheduled = false

  static let touchLimit = 256
  static let countLimit = 1_024

  var isEmpty: Bool { touches.isEmpty && countedSince == 0 }

  /// Whether it is time to write; says so once until it was done.
  mutating func shouldSchedule() -> Bool {
    guard !isScheduled, touches.count >= Self.touchLimit || countedSince >= Self.countLimit else {
      return false
    }
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
  }
}
