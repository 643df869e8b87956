import HTTPCacheFiles
import HTTPCacheSemantics
import HTTPCacheStore

/// The usage of a directory within one transaction: read once, then updated with the rows that the transaction writes
/// and deletes. The bytes of body files are in the state of the index.
struct DiskSpace: Sendable {
  let opened: OpenDirectory
  private var pages: PageCount
  /// Bytes of the log, the counters, the folders, and the indexes that were set aside.
  private let other: Int64
  // Estimated bytes in the index: of rows written since the pages were counted.
  private var written: Int64 = 0
  // Estimated bytes of the next entry, in the index and in its body file.
  private var next: (row: Int64, file: Int64) = (0, 0)
  // Reserved bytes that rows of this transaction count already.
  private var counted: Int64 = 0
  // The usage at which exactly the minimum of free space is left on the file system.
  private var fileSystemLimit: Int64 = .max

  /// - Parameter state: the state of the index now.
  init(of opened: OpenDirectory, _ state: IndexState, on connection: SQLiteConnection) throws(CacheError) {
    self.opened = opened
    let shortage = opened.freeSpace.shortage(in: opened.directory.root)
    pages = try PageCount(connection)
    other = opened.fixedBytes + opened.logBytes
    if let shortage { fileSystemLimit = used(state).saturatingSubtract(shortage) }
  }

  /// Bytes in use without reservations. Free pages of the index do not count: the commit gives them back.
  private func used(_ state: IndexState) -> Int64 {
    pages.liveBytes + written + next.row + state.bodies + next.file + other
  }

  /// Reserved bytes that no row of the transaction counts.
  var reserved: Int64 { opened.reservations.bytes - counted }

  /// Bytes above the limits; negative if there is slack.
  ///
  /// - Parameter capacity: the capacity of the directory.
  func excess(_ state: IndexState, capacity: Int64) -> Int64 {
    let used = used(state)
    return max(
      used.saturatingAdd(reserved).saturatingSubtract(capacity),
      fileSystemLimit == .max ? .min : used.saturatingSubtract(fileSystemLimit))
  }

  /// Counts an entry that is about to get its row. The file system already counts the body file as used.
  mutating func expect(_ entry: NewEntry) {
    counted += entry.reserved
    next = (entry.size - entry.cost, entry.cost)
    if fileSystemLimit < .max { fileSystemLimit = fileSystemLimit.saturatingAdd(entry.cost) }
  }

  /// Counts an entry whose row was inserted.
  mutating func didInsert() {
    written += next.row
    next = (0, 0)
  }

  /// Counts the pages again, after rows were deleted.
  mutating func countPages(_ connection: SQLiteConnection) throws(CacheError) {
    pages = try PageCount(connection)
    written = 0
  }
}
