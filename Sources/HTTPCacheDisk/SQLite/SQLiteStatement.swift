import CSQLite
import HTTPCacheStore

/// A statement that is prepared once and reset after each use.
final class SQLiteStatement {
  private let handle: OpaquePointer
  private let connection: OpaquePointer
  private let sql: String
  private var isRunning = false

  init(_ sql: String, connection: OpaquePointer) throws(CacheError) {
    var statement: OpaquePointer?
    let result = sqlite3_prepare_v3(
      connection, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
    guard result == SQLITE_OK, let statement else {
      throw SQLiteError.make(result, connection, "prepare")
    }
    handle = statement
    self.connection = connection
    self.sql = sql
  }

  deinit { sqlite3_finalize(handle) }

  /// Runs the statement and calls `row` for each row of its result. `row` must not run this statement again:
  /// that would reset it.
  ///
  /// - Parameters:
  ///   - bind: sets the parameters. Values bound without a copy must live until this returns.
  ///   - row: returns whether to continue.
  func run(
    _ bind: (inout SQLiteBinding) -> Void, row: (SQLiteRow) throws(CacheError) -> Bool
  ) throws(CacheError) {
    assert(!isRunning, "the statement is running: \(sql)")
    isRunning = true
    var binding = SQLiteBinding(statement: handle)
    // Release large parameters. The next run overwrites all others.
    defer {
      isRunning = false
      sqlite3_reset(handle)
      if binding.isLarge { sqlite3_clear_bindings(handle) }
    }
    bind(&binding)
    guard binding.result == SQLITE_OK else {
      throw SQLiteError.make(binding.result, connection, "bind")
    }
    while true {
      let result = sqlite3_step(handle)
      switch result {
      case SQLITE_ROW:
        guard try row(SQLiteRow(statement: handle)) else { return }
      case SQLITE_DONE:
        return
      default:
        throw SQLiteError.make(sqlite3_extended_errcode(connection), connection, verb)
      }
    }
  }

  private var verb: String { String(sql.prefix(while: { !$0.isWhitespace })).lowercased() }
}

/// One row of a result; valid until the next row is read.
struct SQLiteRow {
  fileprivate let statement: OpaquePointer

  func isNull(_ column: Int32) -> Bool { sqlite3_column_type(statement, column) == SQLITE_NULL }

  func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(statement, column) }

  func real(_ column: Int32) -> Double { sqlite3_column_double(statement, column) }

  func hash(_ column: Int32) -> UInt64 { UInt64(bitPattern: integer(column)) }

  /// The text; nil for NULL. Invalid UTF-8 can only come from damage and is repaired.
  func text(_ column: Int32) -> String? {
    guard let pointer = sqlite3_column_text(statement, column) else { return nil }
    let count = Int(sqlite3_column_bytes(statement, column))
    return String(decoding: UnsafeBufferPointer(start: pointer, count: count), as: UTF8.self)
  }

  func blob(_ column: Int32) -> UnsafeRawBufferPointer {
    let pointer = sqlite3_column_blob(statement, column)
    return UnsafeRawBufferPointer(
      start: pointer, count: pointer == nil ? 0 : Int(sqlite3_column_bytes(statement, column)))
  }
}
