import HTTPCacheSemantics
import HTTPCacheStore

/// The usage of a directory within one transaction: read once, then updated with the rows that the
/// transaction writes and deletes.
struct DiskSpace: Sendable {
  var state: IndexState
  private var pages: PageCount
  /// Bytes of the log, the counters, the folders, and the indexes that were set aside.
  private let other: Int64
  // Estimated bytes in the index: of rows written since the pages were counted, and of the next row.
  private var written: Int64 = 0
  private var next: Int64 = 0
  /// Reserved bytes that rows of this transaction count already.
  var counted: Int64 = 0
  // The usage at which exactly the minimum of free space is left on the file system.
  private var fileSystemLimit: Int64 = .max

  init(_ connection: SQLiteConnection, _ opened: OpenDirectory, shortage: Int64?) throws(CacheError) {
    state = try IndexState(connection)
    pages = try PageCount(connection)
    other = opened.fixedBytes + opened.logBytes
    if let shortage { fileSystemLimit = used - shortage }
  }

  /// Bytes in use without reservations. Free pages of the index do not count: the commit gives them back.
  var used: Int64 { pages.liveBytes + written + next + state.bodies + other }

  /// Bytes above the limits; negative if there is slack.
  ///
  /// - Parameters:
  ///   - reserved: reserved bytes that no row of this transaction counts.
  ///   - capacity: the capacity of the directory.
  func excess(reserved: Int64, capacity: Int64) -> Int64 {
    max(used.saturatingAdd(reserved) - capacity, fileSystemLimit == .max ? .min : used - fileSystemLimit)
  }

  /// Counts an entry that is about to get its row. The file system already counts the body file as used.
  mutating func expect(_ entry: NewEntry) {
    counted += entry.reserved
    addFile(entry.cost)
    next = entry.size - entry.cost
  }

  /// Counts bytes of a body file that is already written. The number may be negative.
  mutating func addFile(_ bytes: Int64) {
    state.bodies = max(0, state.bodies + bytes)
    if fileSystemLimit < .max { fileSystemLimit += bytes }
  }

  /// Counts an entry whose row was inserted.
  mutating func didInsert() {
    state.entries += 1
    written += next
    next = 0
  }

  /// Counts the pages again, after rows were deleted.
  mutating func countPages(_ connection: SQLiteConnection) throws(CacheError) {
    pages = try PageCount(connection)
    written = 0
  }
}
