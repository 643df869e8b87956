public import HTTPCacheSemantics
public import HTTPCacheStore
import Synchronization

extension DiskStore {
  /// Remembers a refusal; the next batch writes it. The index keeps the latest 1,000 refusals, at most four
  /// of one key.
  public func note(_ refusal: RefusalNote) {
    addToBatch { $0.refusals.add(refusal) }
  }

  /// The latest refusals of a key, newest first, at most four.
  ///
  /// - Throws: `CacheError`.
  public func refusals(of key: CacheKey) throws(CacheError) -> [RefusalNote] {
    let pending = batch.refusals(of: key)
    let opened = try directoryToRead()
    let written = try reading(opened) { (connection) throws(CacheError) in
      var notes: [RefusalNote] = []
      try connection.query(
        """
        SELECT time, status, steps FROM refusal WHERE hash = ?
        ORDER BY id DESC LIMIT \(RecentRefusals.mostOfOneKey)
        """, [.hash(opened.hashes.hash(of: key))]
      ) { row in
        // Skip a refusal that cannot be decoded.
        guard let explanation = try? RefusalCodec.decode(row.blob(2)) else { return true }
        notes.append(
          RefusalNote(
            key: key, time: Timestamp(seconds: row.integer(0)),
            status: Int(clamping: row.integer(1)), explanation: explanation))
        return true
      }
      return notes
    }
    return Array((pending + written).prefix(RecentRefusals.mostOfOneKey))
  }

  private static let mostRefusals = 1_000

  /// Writes refusals within a transaction, and deletes the oldest.
  static func write(
    _ refusals: [RefusalNote], _ hashes: RowHashes, _ connection: SQLiteConnection
  ) throws(CacheError) {
    guard !refusals.isEmpty else { return }
    for note in refusals {
      try connection.run(
        "INSERT INTO refusal (hash, time, status, steps) VALUES (?, ?, ?, ?)",
        [
          .hash(hashes.hash(of: note.key)), .integer(note.time.seconds), .integer(Int64(note.status)),
          .blob(RefusalCodec.encode(note.explanation)),
        ])
    }
    for hash in Set(refusals.map { hashes.hash(of: $0.key) }) {
      try connection.run(
        """
        DELETE FROM refusal WHERE hash = ? AND id NOT IN
        (SELECT id FROM refusal WHERE hash = ? ORDER BY id DESC LIMIT \(RecentRefusals.mostOfOneKey))
        """, [.hash(hash), .hash(hash)])
    }
    try connection.run(
      """
      DELETE FROM refusal
      WHERE id < (SELECT id FROM refusal ORDER BY id DESC LIMIT 1 OFFSET \(mostRefusals - 1))
      """)
  }
}
