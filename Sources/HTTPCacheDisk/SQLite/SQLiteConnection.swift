import CSQLite
import HTTPCacheStore

/// A connection to a SQLite database with its prepared statements.
final class SQLiteConnection: @unchecked Sendable {
  // @unchecked Sendable because the connection is only used under the `Mutex` of its owner.
  private let handle: OpaquePointer
  private var statements: [String: SQLiteStatement] = [:]
  // By `FrequentStatement.number`.
  private var frequent: [SQLiteStatement?] = []
  // Boxed, because the WAL hook keeps a pointer to it.
  private let log = LogLength()

  /// The pages in the log after the last commit of this connection.
  var logPages: Int { log.pages }

  /// Opens the database at `path`, which must not contain symbolic links.
  init(path: String, creating: Bool) throws(CacheError) {
    CacheDirectory.removeMisplacedJournal(of: path)
    var opened: OpaquePointer?
    let flags =
      SQLITE_OPEN_READWRITE | (creating ? SQLITE_OPEN_CREATE : 0) | SQLITE_OPEN_NOMUTEX
      | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_EXRESCODE
    let result = sqlite3_open_v2(path, &opened, flags, nil)
    guard result == SQLITE_OK, let opened else {
      let error = SQLiteError.make(result, opened, "open index")
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

  // `DiskStore.close` drops the connections on the index thread. This closes those of a store that was not closed.
  deinit {
    statements = [:]
    frequent = []
    sqlite3_close_v2(handle)
  }

  /// Runs statements without parameters and results.
  func execute(_ sql: String) throws(CacheError) {
    let result = sqlite3_exec(handle, sql, nil, nil, nil)
    guard result == SQLITE_OK else { throw SQLiteError.make(result, handle, "execute") }
  }

  /// Runs a statement, which is prepared at its first use, and calls `row` for each row.
  ///
  /// - Parameter row: returns whether to continue.
  func query(
    _ sql: String, _ values: [SQLiteValue] = [],
    row: (SQLiteRow) throws(CacheError) -> Bool
  ) throws(CacheError) {
    let statement: SQLiteStatement
    if let prepared = statements[sql] {
      statement = prepared
    } else {
      statement = try SQLiteStatement(sql, connection: handle)
      statements[sql] = statement
    }
    try statement.run(
      { binding in
        for (index, value) in values.enumerated() { binding.value(value, Int32(index + 1)) }
      }, row: row)
  }

  /// Runs a frequent statement and calls `row` for each row.
  func query(
    _ statement: FrequentStatement, _ bind: (inout SQLiteBinding) -> Void = { _ in },
    row: (SQLiteRow) throws(CacheError) -> Bool
  ) throws(CacheError) {
    if statement.number >= frequent.count {
      frequent += [SQLiteStatement?](repeating: nil, count: statement.number + 1 - frequent.count)
    }
    if let prepared = frequent[statement.number] { return try prepared.run(bind, row: row) }
    let prepared = try SQLiteStatement(statement.sql, connection: handle)
    frequent[statement.number] = prepared
    try prepared.run(bind, row: row)
  }

  /// The first column of the only row as a number.
  func number(_ statement: FrequentStatement) throws(CacheError) -> Int64 {
    var number: Int64 = 0
    try query(statement) { row in
      number = row.integer(0)
      return false
    }
    return number
  }

  /// Runs a frequent statement that returns no rows.
  func run(
    _ statement: FrequentStatement, _ bind: (inout SQLiteBinding) -> Void = { _ in }
  ) throws(CacheError) {
    try query(statement, bind) { _ in true }
  }

  /// Runs a statement that returns no rows.
  ///
  /// - Returns: the number of rows changed.
  @discardableResult
  func run(_ sql: String, _ values: [SQLiteValue] = []) throws(CacheError) -> Int {
    try query(sql, values) { _ in true }
    return Int(sqlite3_changes64(handle))
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
    try run(Self.begin)
    do throws(CacheError) {
      let value = try body()
      try run(Self.commit)
      return value
    } catch {
      // A failed COMMIT may have rolled back already.
      if isInTransaction { _ = try? run(Self.rollback) }
      throw error
    }
  }

  /// Runs `body` in a savepoint. If `body` fails, only its part of the transaction is undone.
  ///
  /// - Throws: the error of `body`. `isInTransaction` tells whether the transaction still exists.
  func savepoint<Value>(
    _ body: () throws(CacheError) -> Value
  ) throws(CacheError) -> Value {
    try run(Self.savepoint)
    do throws(CacheError) {
      let value = try body()
      try run(Self.release)
      return value
    } catch {
      if isInTransaction {
        _ = try? run(Self.rollBackTo)
        _ = try? run(Self.release)
      }
      throw error
    }
  }

  var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

  /// Makes a checkpoint of all pages of the log that no reader needs in an older state.
  func checkpoint() { sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil) }

  /// Removes all bytes of removed rows from the file. A small database is rebuilt with `VACUUM`, by way of
  /// memory and the log. If the database is large or `VACUUM` fails, its free pages are given back instead.
  /// That is enough if `secure_delete` overwrote all removed rows.
  ///
  /// - Throws: `CacheError`; the database then has all its rows.
  func makeAnew() throws(CacheError) {
    do throws(CacheError) {
      if try PageCount(self).liveBytes <= Schema.logLimit { return try vacuum() }
    } catch {
      guard !(error.cause is IndexDamage) else { throw error }
    }
    try giveBackAllPages()
  }

  private func vacuum() throws(CacheError) {
    // Do not keep all pages in memory twice.
    try execute("PRAGMA cache_spill = ON")
    defer { try? execute("PRAGMA cache_spill = OFF") }
    let result = sqlite3_exec(handle, "VACUUM", nil, nil, nil)
    // The operation is not called "execute": a failure of `VACUUM` is no sign of damage.
    guard result == SQLITE_OK else { throw SQLiteError.make(result, handle, "vacuum") }
  }

  /// Gives all free pages back to the file system. Stops early if the log becomes too long because another
  /// process reads an old state.
  func giveBackAllPages() throws(CacheError) {
    while let free = try number("PRAGMA freelist_count"), free > 0 {
      // Each page goes through the log.
      try execute("PRAGMA incremental_vacuum(512)")
      if logPages >= Schema.logPages { guard try truncateLog(waiting: false) else { break } }
      let rest = try number("PRAGMA freelist_count") ?? 0
      guard rest < free else { break }
    }
  }

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
      throw SQLiteError.make(result, nil, "read the header of the index")
    }
    return header
  }

  /// The time to wait for another process, in milliseconds.
  private static let patience: Int32 = 2_000
  private static let begin = FrequentStatement("BEGIN IMMEDIATE")
  private static let commit = FrequentStatement("COMMIT")
  private static let rollback = FrequentStatement("ROLLBACK")
  private static let savepoint = FrequentStatement("SAVEPOINT one")
  private static let release = FrequentStatement("RELEASE one")
  private static let rollBackTo = FrequentStatement("ROLLBACK TO one")

  private final class LogLength {
    var pages = 0
  }
}
