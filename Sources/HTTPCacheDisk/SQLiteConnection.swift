import CSQLite
import HTTPCacheStore

/// A connection to a SQLite database with its prepared statements.
final class SQLiteConnection: @unchecked Sendable {
  // @unchecked Sendable because it is only reached through the `Mutex` of the one who holds it.
  private let handle: OpaquePointer
  private var statements: [String: SQLiteStatement] = [:]
  // Milliseconds.
  private static let patience: Int32 = 2_000

  /// Opens the database at `path`, which has no symbolic link in it.
  init(path: String, creating: Bool) throws(CacheError) {
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
  }

  deinit {
    statements = [:]
    sqlite3_close_v2(handle)
  }

  /// Runs statements that take nothing and answer nothing.
  func execute(_ sql: String) throws(CacheError) {
    let result = sqlite3_exec(handle, sql, nil, nil, nil)
    guard result == SQLITE_OK else { throw SQLiteError.make(result, handle, "execute") }
  }

  /// Runs a statement, prepared at its first use, and calls `row` for each row.
  ///
  /// - Parameter row: returns whether to go on.
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
    try statement.run(values, row: row)
  }

  /// Runs a statement that answers no rows.
  ///
  /// - Returns: how many rows it changed.
  @discardableResult
  func run(_ sql: String, _ values: [SQLiteValue] = []) throws(CacheError) -> Int {
    try query(sql, values) { _ in true }
    return Int(sqlite3_changes64(handle))
  }

  /// The first column of the first row as a number; nil if there is no row or it is NULL.
  func number(_ sql: String, _ values: [SQLiteValue] = []) throws(CacheError) -> Int64? {
    var number: Int64?
    try query(sql, values) { row in
      if !row.isNull(0) { number = row.integer(0) }
      return false
    }
    return number
  }

  /// Plays the log into the database and empties it, if nobody reads an older state.
  ///
  /// - Parameter waiting: whether to wait for those who do, some seconds at most.
  func truncateLog(waiting: Bool) throws(CacheError) {
    if !waiting { sqlite3_busy_timeout(handle, 0) }
    defer { if !waiting { sqlite3_busy_timeout(handle, Self.patience) } }
    do throws(CacheError) { try query("PRAGMA wal_checkpoint(TRUNCATE)") { _ in true } } catch {
      guard error.code == .busy else { throw error }
    }
  }

  /// Does `body` in a transaction that holds the right to write from its beginning.
  func transaction<Value>(
    _ body: () throws(CacheError) -> Value
  ) throws(CacheError) -> Value {
    try run("BEGIN IMMEDIATE")
    do throws(CacheError) {
      let value = try body()
      try run("COMMIT")
      return value
    } catch {
      // A failed COMMIT may have rolled back already; then there is nothing to do.
      if sqlite3_get_autocommit(handle) == 0 { _ = try? run("ROLLBACK") }
      throw error
    }
  }
}
