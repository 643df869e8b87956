package import HTTPCacheSemantics

/// The latest notes of why responses were not stored, bounded in number.
package struct RecentRefusals: Sendable {
  /// The most notes of one key that are told.
  package static let mostOfOneKey = 4

  private let limit: Int
  /// The notes, the oldest first.
  package private(set) var notes: [RefusalNote] = []

  /// Makes an empty list for at most `limit` notes.
  package init(limit: Int) { self.limit = limit }

  /// Adds a note; the oldest ones beyond the limit go.
  package mutating func add(_ note: RefusalNote) {
    notes.append(note)
    // In steps, so that a full list is not moved for each note.
    if notes.count >= limit + limit / 4 { notes.removeFirst(notes.count - limit) }
  }

  /// The notes of a key, the latest first.
  package func of(_ key: CacheKey) -> [RefusalNote] {
    Array(
      notes.suffix(limit).reversed().lazy.filter { $0.key == key }.prefix(Self.mostOfOneKey))
  }

  /// Puts older notes before those there are.
  package mutating func putBack(_ older: [RefusalNote]) {
    notes = (older + notes).suffix(limit)
  }
}
