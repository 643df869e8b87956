import HTTPCacheStore

/// The row that counts: read and written in the transaction that changes what it counts.
struct IndexState: Sendable {
  /// The number of changes so far; the next one's id is one higher.
  var sequence: Int64
  var entries: Int64
  /// Bytes of bodies in files.
  var bodies: Int64

  init(_ connection: SQLiteConnection) throws(CacheError) {
    var found: (Int64, Int64, Int64)?
    try connection.query("SELECT sequence, entries, bodies FROM state WHERE id = 0") { row in
      found = (row.integer(0), row.integer(1), row.integer(2))
      return false
    }
    guard let found else { throw CacheError(.damaged, "index: no state", cause: IndexDamage()) }
    (sequence, entries, bodies) = found
  }

  mutating func nextSequence() -> Int64 {
    sequence += 1
    return sequence
  }

  mutating func subtract(_ removals: Removals) {
    entries = max(0, entries - Int64(removals.count))
    bodies = max(0, bodies - removals.cost)
  }

  func save(_ connection: SQLiteConnection) throws(CacheError) {
    try connection.run(
      "UPDATE state SET sequence = ?, entries = ?, bodies = ? WHERE id = 0",
      [.integer(sequence), .integer(entries), .integer(bodies)])
  }
}

/// The pages of a database file.
struct PageCount: Sendable {
  static let pageSize: Int64 = 4_096

  let all: Int64
  let free: Int64

  init(_ connection: SQLiteConnection) throws(CacheError) {
    all = try connection.number("PRAGMA page_count") ?? 0
    free = try connection.number("PRAGMA freelist_count") ?? 0
  }

  /// Bytes of the file.
  var bytes: Int64 { all * Self.pageSize }
  /// Bytes of the file that are in use.
  var liveBytes: Int64 { (all - free) * Self.pageSize }
}
