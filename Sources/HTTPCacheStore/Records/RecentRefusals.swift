package import HTTPCacheSemantics

/// The latest notes about responses that were not stored, bounded in number.
package struct RecentRefusals: Sendable {
  /// The maximum number of notes returned for one key.
  package static let mostOfOneKey = 4

  private static let limit = 256
  /// The notes, oldest first.
  package private(set) var notes: [RefusalNote] = []

  /// Makes an empty list.
  package init() {}

  /// Adds a note, and drops the oldest ones beyond the limit.
  package mutating func add(_ note: RefusalNote) {
    notes.append(note)
    // Drop several at once, so that a full list is not moved for each note.
    if notes.count >= Self.limit + Self.limit / 4 { notes.removeFirst(notes.count - Self.limit) }
  }

  /// The notes of a key, latest first.
  package func of(_ key: CacheKey) -> [RefusalNote] {
    Array(
      notes.suffix(Self.limit).reversed().lazy.filter { $0.key == key }.prefix(Self.mostOfOneKey))
  }

  /// Inserts older notes before the existing ones.
  package mutating func putBack(_ older: [RefusalNote]) {
    notes = (older + notes).suffix(Self.limit)
  }
}
