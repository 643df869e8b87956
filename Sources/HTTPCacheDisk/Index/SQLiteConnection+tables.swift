import HTTPCacheSemantics
import HTTPCacheStore

/// The tables `refusal` and `counts`.
extension SQLiteConnection {
  private static let mostRefusals = 1_000

  /// The latest refusals of a key, newest first.
  func refusals(of key: CacheKey, hash: UInt64) throws(CacheError) -> [RefusalNote] {
    var notes: [RefusalNote] = []
    try query(
      """
      SELECT time, status, steps FROM refusal WHERE hash = ?
      ORDER BY id DESC LIMIT \(RecentRefusals.mostOfOneKey)
      """, [.hash(hash)]
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

  /// Inserts refusals and deletes the oldest, within a transaction.
  func insert(_ refusals: [RefusalNote], hashes: RowHashes) throws(CacheError) {
    guard !refusals.isEmpty else { return }
    for note in refusals {
      try run(
        "INSERT INTO refusal (hash, time, status, steps) VALUES (?, ?, ?, ?)",
        [
          .hash(hashes.hash(of: note.key)), .integer(note.time.seconds), .integer(Int64(note.status)),
          .blob(RefusalCodec.encode(note.explanation)),
        ])
    }
    for hash in Set(refusals.map { hashes.hash(of: $0.key) }) {
      try run(
        """
        DELETE FROM refusal WHERE hash = ? AND id NOT IN
        (SELECT id FROM refusal WHERE hash = ? ORDER BY id DESC LIMIT \(RecentRefusals.mostOfOneKey))
        """, [.hash(hash), .hash(hash)])
    }
    try run(
      """
      DELETE FROM refusal
      WHERE id < (SELECT id FROM refusal ORDER BY id DESC LIMIT 1 OFFSET \(Self.mostRefusals - 1))
      """)
  }

  /// The persistent counters.
  func counts() throws(CacheError) -> CacheCounts {
    var counts = CacheCounts()
    try query(
      """
      SELECT hits, validated, misses, stores, evictions, hitBytes, originBytes FROM counts
      """
    ) { row in
      // Limit each counter: sums with a damaged value must not overflow.
      func count(_ column: Int32) -> Int64 { max(0, min(row.integer(column), 1 << 60)) }
      counts = CacheCounts(
        hits: count(0), validated: count(1), misses: count(2), stores: count(3),
        evictions: count(4), hitBytes: count(5), originBytes: count(6))
      return false
    }
    return counts
  }

  /// Adds to the persistent counters.
  func add(_ counts: CacheCounts) throws(CacheError) {
    try run(
      """
      UPDATE counts SET hits = hits + ?, validated = validated + ?, misses = misses + ?,
      stores = stores + ?, evictions = evictions + ?, hitBytes = hitBytes + ?,
      originBytes = originBytes + ?
      """,
      [
        .integer(counts.hits), .integer(counts.validated), .integer(counts.misses),
        .integer(counts.stores), .integer(counts.evictions), .integer(counts.hitBytes),
        .integer(counts.originBytes),
      ])
  }
}
