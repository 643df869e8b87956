import CSQLite
import HTTPCacheLibC
import HTTPCacheStore

/// A connection to a SQLite database with its prepared statements.
final class SQLiteConnection: @unchecked Sendable {
  // @unchecked Sendable because the connection is only used under the `Mutex` of its owner.
  private let handle: OpaquePointer
  private var statements: [StatementText: SQLiteStatement] = [:]
  // Boxed, because the WAL hook keeps a pointer to it.
  private let log = LogLength()

  /// The pages in the log after the last commit of this connection.
  var logPages: Int { log.pages }

  /// Opens the database at `path`, which must not contain symbolic links.
  init(path: String, creating: Bool) throws(CacheError) {
    Self.removeMisplacedJournal(of: path)
    var opened: OpaquePointer?
    let flags =
      SQLITE_OPEN_READWRITE | (creating ? SQLITE_OPEN_CREATE : 0) | SQLITE_OPEN_NOMUTEX
      | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_EXRESCODE
    let result = sqlite3_open_v2(path, &opened, flags, nil)
    guard result == SQLITE_OK, let opened else {
      let error = SQLiteError.make(result, on: opened, during: "open index")
      sqlite3_close_v2(opened)
      throw error
    }
    handle = opened
    sqlite3_busy_timeout(handle, Self.patience)
    sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, 64 << 20)
    // The hook replaces SQLite's automatic checkpoints, which would delay commits.
    sqlite3_wal_hook(
      handle,
      { context, _, _, pages in
        guard let context else { return SQLITE_OK }
        Unmanaged<LogLength>.fromOpaque(context).takeUnretainedValue().pages = Int(pages)
        return SQLITE_OK
      }, Unmanaged.passUnretained(log).toOpaque())
  }

  /// Removes a pipe, folder or link in the place of the index's rollback journal: SQLite would wait for a
  /// pipe for ever. The index has such a journal only while it is made; later it uses a write-ahead log.
  private static func removeMisplacedJournal(of database: String) {
    let path = database + "-journal"
    var status = stat()
    guard lstat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG else { return }
    if unlink(path) != 0 { rmdir(path) }
  }

  // `DiskStore.close` drops the connections on the index thread. This closes those of a store that was not closed.
  deinit {
    statements = [:]
    sqlite3_close_v2(handle)
  }

  /// Runs statements without parameters and results.
  func execute(_ sql: String) throws(CacheError) {
    let result = sqlite3_exec(handle, sql, nil, nil, nil)
    guard result == SQLITE_OK else { throw SQLiteError.make(result, on: handle, during: "execute") }
  }

  /// Runs a statement, which is prepared at its first use, and calls `row` for each row.
  ///
  /// - Parameter row: returns whether to continue.
  func query(
    _ sql: String, _ values: [SQLiteValue] = [],
    row: (SQLiteRow) throws(CacheError) -> Bool
  ) throws(CacheError) {
    let text = StatementText(sql: sql)
    if let prepared = statements[text] { return try prepared.run(values, row: row) }
    let prepared = try SQLiteStatement(sql, connection: handle)
    statements[text] = prepared
    try prepared.run(values, row: row)
  }

  /// Runs a statement that returns no rows.
  func run(_ sql: String, _ values: [SQLiteValue] = []) throws(CacheError) {
    try query(sql, values) { _ in true }
  }

  /// The first column of the first row as a number; nil if there is no row or the value is NULL.
  func number(_ sql: String, _ values: [SQLiteValue] = []) throws(CacheError) -> Int64? {
    var number: Int64?
    try query(sql, values) { row in
      if !row.isNull(0) { number = row.integer(0) }
      return false
    }
    return number
  }

  /// The errors that SQLite finds in the structure of the database, at most twenty.
  func integrityErrors() throws(CacheError) -> [String] {
    var errors: [String] = []
    try query("PRAGMA integrity_check(20)") { row in
      if let text = row.text(0), text != "ok" { errors.append(text) }
      return true
    }
    return errors
  }

  /// Makes a checkpoint and empties the log, if no process reads an older state.
  ///
  /// - Parameter waiting: whether to wait for such a process, for some seconds at most.
  /// - Returns: whether the log is empty now.
  @discardableResult
  func truncateLog(waiting: Bool) throws(CacheError) -> Bool {
    if !waiting { sqlite3_busy_timeout(handle, 0) }
    defer { if !waiting { sqlite3_busy_timeout(handle, Self.patience) } }
    do throws(CacheError) { return try number("PRAGMA wal_checkpoint(TRUNCATE)") == 0 } catch {
      guard error.code == .busy else { throw error }
      return false
    }
  }

  /// Runs `body` in a transaction that holds the write lock from its beginning.
  func transaction<Value>(_ body: () throws(CacheError) -> Value) throws(CacheError) -> Value {
    try run("BEGIN IMMEDIATE")
    do throws(CacheError) {
      let value = try body()
      try run("COMMIT")
      return value
    } catch {
      // A failed COMMIT may have rolled back already.
      if isInTransaction { _ = try? run("ROLLBACK") }
      throw error
    }
  }

  private var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

  /// Makes a checkpoint of all pages of the log that no reader needs in an older state.
  func checkpoint() { sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil) }

  /// The first 100 bytes of the file. They are read with SQLite's own descriptor: closing another descriptor
  /// would release the locks of this process on the file. Call this before the first statement.
  ///
  /// - Throws: `CacheError.unavailable` if the file cannot be written.
  func header() throws(CacheError) -> [UInt8] {
    var file: UnsafeMutablePointer<sqlite3_file>?
    sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER, &file)
    guard sqlite3_db_readonly(handle, "main") == 0, let file, let read = file.pointee.pMethods?.pointee.xRead
    else { throw CacheError(.unavailable, "cannot write Cache.db") }
    var header = [UInt8](repeating: 0, count: 100)
    let result = read(file, &header, 100, 0)
    // SQLITE_IOERR_SHORT_READ: the rest of the buffer is zero then.
    guard result == SQLITE_OK || result == SQLITE_IOERR | 2 << 8 else {
      throw SQLiteError.make(result, on: nil, during: "read the header of the index")
    }
    return header
  }

  /// The time to wait for another process, in milliseconds.
  private static let patience: Int32 = 2_000

  private final class LogLength {
    var pages = 0
  }

  // Hashes the length only: hashing the whole text took 700 of the 23,800 instructions of a hit.
  private struct StatementText: Hashable {
    let sql: String

    func hash(into hasher: inout Hasher) { hasher.combine(sql.utf8.count) }
  }
}
