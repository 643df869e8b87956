import HTTPCacheStore

/// The row of the table `state`. A transaction that changes entries reads and writes the row.
struct IndexState: Sendable, Equatable {
  /// The number of the last change. A new entry gets the next number as its id. The numbers of a new index
  /// are above those of all earlier indexes, see `Schema.firstSequence`.
  var sequence: Int64
  var entries: Int64
  /// Bytes of body files.
  var bodies: Int64
  /// The capacity of the directory, read together with the state in each transaction.
  let capacity: Int64

  // Higher values mean damage; sums with them could overflow.
  static let mostSequence: Int64 = 1 << 62
  static let mostBytes: Int64 = 1 << 50

  init(_ connection: SQLiteConnection) throws(CacheError) {
    var found: (Int64, Int64, Int64)?
    var capacity: Int64 = 0
    try connection.query(Self.loading) { row in
      found = (row.integer(0), row.integer(1), row.integer(2))
      capacity = row.integer(3)
      return false
    }
    guard let found else { throw CacheError(.damaged, "index: no state", cause: IndexDamage()) }
    (sequence, entries, bodies) = found
    self.capacity = capacity
    let isSound =
      (0...Self.mostSequence).contains(sequence) && (0...Self.mostBytes).contains(entries)
      && (0...Self.mostBytes).contains(bodies)
    if !isSound { throw CacheError(.damaged, "index: an impossible state", cause: IndexDamage()) }
  }

  mutating func nextSequence() -> Int64 {
    sequence += 1
    return sequence
  }

  mutating func subtract(_ row: EntryRow) {
    entries = max(0, entries - 1)
    bodies = max(0, bodies - row.cost)
  }

  func save(_ connection: SQLiteConnection) throws(CacheError) {
    try connection.run(
      "UPDATE state SET sequence = ?, entries = ?, bodies = ? WHERE id = 0",
      [.integer(sequence), .integer(entries), .integer(bodies)])
  }

  private static let loading = """
    SELECT sequence, entries, bodies,
      ifnull(\(DirectorySettings.selectingCapacity), \(DirectorySettings().capacity))
    FROM state WHERE id = 0
    """
}

/// The number of pages in the file of the index. There are free pages only within a transaction that deletes rows.
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
