import HTTPCacheSemantics

/// The last entry of the log that a node has read.
struct ReadPosition: Sendable, Hashable {
  let position: SharedPosition
  /// A hash of the uid of the entry: after a loss, another entry may have the position. 0 without an entry.
  let entry: UInt64

  /// Before every entry.
  static let start = ReadPosition(position: .start, entry: 0)

  init(position: SharedPosition, entry: UInt64) {
    self.position = position
    self.entry = entry
  }

  /// The position of an entry.
  init(_ entry: SharedLogEntry) {
    position = entry.position
    self.entry = Self.hash(entry)
  }

  /// Whether the position is that of an entry.
  func isEntry(_ entry: SharedLogEntry) -> Bool {
    entry.position == position && Self.hash(entry) == self.entry
  }

  /// Whether the entry has the change of this one, at whichever position. One that could not be read, now or then, is told
  /// by its position alone.
  func isChange(of entry: SharedLogEntry) -> Bool {
    self.entry == 0 || entry.change == nil ? entry.position == position : Self.hash(entry) == self.entry
  }

  private static func hash(_ entry: SharedLogEntry) -> UInt64 {
    entry.change.map { XXH64.hash(Array($0.uid.utf8)) } ?? 0
  }
}
