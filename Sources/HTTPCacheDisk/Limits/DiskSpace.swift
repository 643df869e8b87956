import HTTPCacheSemantics
import HTTPCacheStore

/// The space that a directory takes, as one transaction sees it: read once, then kept up with the rows that
/// the transaction writes and deletes.
struct DiskSpace: Sendable {
  var state: IndexState
  private(set) var pages: PageCount
  /// Bytes of the log, the counters, the folders, and indexes that were set aside.
  private let other: Int64
  // Bytes in the index of rows that were written since the pages were counted, and of the next row; estimates.
  private var written: Int64 = 0
  private var next: Int64 = 0
  /// Bytes that are reserved although rows of this transaction count them already.
  var counted: Int64 = 0
  // The most bytes that may be in use so that enough is free on the file system.
  private var fileSystemLimit: Int64 = .max

  init(_ connection: SQLiteConnection, _ opened: OpenDirectory, shortage: Int64?) throws(CacheError) {
    state = try IndexState(connection)
    pages = try PageCount(connection)
    other = opened.fixedBytes + opened.logBytes
    if let shortage { fileSystemLimit = used - shortage }
  }

  /// Bytes in use but for what is reserved. Free pages of the index do not count, since they can be given back.
  var used: Int64 { pages.liveBytes + written + next + state.bodies + other }

  /// Bytes of free pages of the index.
  var freeBytes: Int64 { max(0, pages.bytes - pages.liveBytes - written - next) }

  /// Bytes above the limits; negative if there is slack.
  ///
  /// - Parameters:
  ///   - reserved: bytes that are reserved and that no row of this transaction counts.
  ///   - capacity: of the directory.
  func excess(reserved: Int64, capacity: Int64) -> Int64 {
    max(used.saturatingAdd(reserved) - capacity, fileSystemLimit == .max ? .min : used - fileSystemLimit)
  }

  /// Counts an entry that is about to get its row. Its body file is written already, and counts with what is
  /// free on the file system.
  mutating func expect(_ entry: NewEntry) {
    counted += entry.reserved
    addFile(entry.cost)
    next = entry.size - entry.cost
  }

  /// Counts a body file that is written already; fewer bytes than before if negative.
  mutating func addFile(_ bytes: Int64) {
    state.bodies = max(0, state.bodies + bytes)
    if fileSystemLimit < .max { fileSystemLimit += bytes }
  }

  /// The entry has its row.
  mutating func didInsert() {
    state.entries += 1
    written += next
    next = 0
  }

  /// Counts the pages again, after rows were deleted or pages given back.
  mutating func countPages(_ connection: SQLiteConnection) throws(CacheError) {
    pages = try PageCount(connection)
    written = 0
  }
}
