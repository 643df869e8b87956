import CSQLite
import HTTPCacheStore

/// A value bound to a parameter of a statement.
enum SQLiteValue: Sendable {
  case null
  case integer(Int64)
  case real(Double)
  case text(String)
  case blob([UInt8])
  /// Bytes that are bound without a copy.
  case shared(BodyBytes)

  /// The bits of a hash. SQLite has signed integers only.
  static func hash(_ value: UInt64) -> SQLiteValue { .integer(Int64(bitPattern: value)) }
}

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
      throw SQLiteError.make(result, on: connection, during: "prepare")
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
  ///   - values: the parameters, all of them.
  ///   - row: returns whether to continue.
  func run(
    _ values: [SQLiteValue], row: (SQLiteRow) throws(CacheError) -> Bool
  ) throws(CacheError) {
    assert(!isRunning, "the statement is running: \(sql)")
    isRunning = true
    // Clear the parameters: they may be large, and shared bytes live only as long as `values`.
    defer {
      isRunning = false
      sqlite3_reset(handle)
      if !values.isEmpty { withExtendedLifetime(values) { _ = sqlite3_clear_bindings(handle) } }
    }
    for (index, value) in values.enumerated() {
      let result = bind(value, at: Int32(index + 1))
      guard result == SQLITE_OK else { throw SQLiteError.make(result, on: connection, during: "bind") }
    }
    while true {
      let result = sqlite3_step(handle)
      switch result {
      case SQLITE_ROW:
        guard try row(SQLiteRow(statement: handle)) else { return }
      case SQLITE_DONE:
        return
      default:
        throw SQLiteError.make(sqlite3_extended_errcode(connection), on: connection, during: verb)
      }
    }
  }

  private func bind(_ value: SQLiteValue, at index: Int32) -> Int32 {
    switch value {
    case .null: return sqlite3_bind_null(handle, index)
    case .integer(let number): return sqlite3_bind_int64(handle, index, number)
    case .real(let number): return sqlite3_bind_double(handle, index, number)
    case .text(var text):
      return text.withUTF8 { bytes in
        bytes.withMemoryRebound(to: CChar.self) { characters in
          sqlite3_bind_text64(
            handle, index, characters.baseAddress, UInt64(characters.count), Self.copied, UInt8(SQLITE_UTF8))
        }
      }
    case .blob(let bytes): return bytes.withUnsafeBytes { bind($0, at: index, destructor: Self.copied) }
    case .shared(let bytes): return bytes.withUnsafeBytes { bind($0, at: index, destructor: nil) }
    }
  }

  private func bind(
    _ bytes: UnsafeRawBufferPointer, at index: Int32, destructor: sqlite3_destructor_type?
  ) -> Int32 {
    // A null pointer would bind NULL.
    if bytes.isEmpty { return sqlite3_bind_zeroblob(handle, index, 0) }
    return sqlite3_bind_blob64(handle, index, bytes.baseAddress, UInt64(bytes.count), destructor)
  }

  // SQLITE_TRANSIENT: Swift cannot import the C macro, because it contains a cast.
  private static let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

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

  /// Whether a column has this value.
  func has(_ value: SQLiteValue, _ column: Int32) -> Bool {
    switch value {
    case .null: isNull(column)
    case .integer(let number): integer(column) == number
    case .real(let number): real(column) == number
    case .text(let text): self.text(column) == text
    case .blob(let bytes): blob(column).elementsEqual(bytes)
    case .shared(let bytes): bytes.withUnsafeBytes { blob(column).elementsEqual($0) }
    }
  }

  func blob(_ column: Int32) -> UnsafeRawBufferPointer {
    let pointer = sqlite3_column_blob(statement, column)
    return UnsafeRawBufferPointer(
      start: pointer, count: pointer == nil ? 0 : Int(sqlite3_column_bytes(statement, column)))
  }
}
