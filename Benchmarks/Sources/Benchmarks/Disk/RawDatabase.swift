import CRawSQLite

/// The peer of the disk rows: the minimum that SQLite has to do for a record with its body. One connection, prepared
/// statements, parameters that are not copied, one transaction for each insertion. Log, syncs and pages are as in
/// `DiskStore`.
final class RawDatabase {
  private let handle: OpaquePointer
  private let insertion: OpaquePointer
  private let selection: OpaquePointer

  init(path: String) throws {
    var opened: OpaquePointer?
    guard
      sqlite3_open_v2(
        path, &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nil) == SQLITE_OK,
      let opened
    else { throw BenchmarkError.sqlite("open") }
    handle = opened
    let layout = """
      PRAGMA page_size = 4096; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
      PRAGMA journal_size_limit = 4194304;
      CREATE TABLE IF NOT EXISTS cache (
        id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, record BLOB NOT NULL, body BLOB, file TEXT);
      """
    guard sqlite3_exec(opened, layout, nil, nil, nil) == SQLITE_OK else {
      throw BenchmarkError.sqlite("make the table")
    }
    insertion = try Self.prepare("INSERT INTO cache (key, record, body, file) VALUES (?, ?, ?, ?)", opened)
    selection = try Self.prepare("SELECT record, body FROM cache WHERE key = ?", opened)
  }

  deinit {
    sqlite3_finalize(insertion)
    sqlite3_finalize(selection)
    sqlite3_close(handle)
  }

  func execute(_ sql: String) { sqlite3_exec(handle, sql, nil, nil, nil) }

  /// The first number of a result.
  func number(_ sql: String) throws -> Int {
    let statement = try Self.prepare(sql, handle)
    defer { sqlite3_finalize(statement) }
    guard sqlite3_step(statement) == SQLITE_ROW else { throw BenchmarkError.sqlite(sql) }
    return Int(sqlite3_column_int64(statement, 0))
  }

  func insert(_ key: String, record: [UInt8], body: [UInt8]?, file: String? = nil) throws {
    var (key, file) = (key, file ?? "")
    let result = key.withUTF8 { key in
      key.withMemoryRebound(to: CChar.self) { key in
        file.withUTF8 { file in
          file.withMemoryRebound(to: CChar.self) { file in
            sqlite3_bind_text(insertion, 1, key.baseAddress, Int32(key.count), nil)
            sqlite3_bind_blob(insertion, 2, record, Int32(record.count), nil)
            if let body {
              sqlite3_bind_blob(insertion, 3, body, Int32(body.count), nil)
              sqlite3_bind_null(insertion, 4)
            } else {
              sqlite3_bind_null(insertion, 3)
              sqlite3_bind_text(insertion, 4, file.baseAddress, Int32(file.count), nil)
            }
            return sqlite3_step(insertion)
          }
        }
      }
    }
    sqlite3_reset(insertion)
    guard result == SQLITE_DONE else { throw BenchmarkError.sqlite("insert") }
  }

  /// Copies record and body. Returns their number of bytes, 0 for a miss.
  func get(_ key: String) -> Int {
    var key = key
    return key.withUTF8 { key in
      key.withMemoryRebound(to: CChar.self) { key in
        sqlite3_bind_text(selection, 1, key.baseAddress, Int32(key.count), nil)
        defer { sqlite3_reset(selection) }
        guard sqlite3_step(selection) == SQLITE_ROW else { return 0 }
        return ([0, 1] as [Int32]).reduce(0) { sum, column in
          let bytes = UnsafeRawBufferPointer(
            start: sqlite3_column_blob(selection, column),
            count: Int(sqlite3_column_bytes(selection, column)))
          return sum + Array(bytes).count
        }
      }
    }
  }

  private static func prepare(_ sql: String, _ handle: OpaquePointer) throws -> OpaquePointer {
    var statement: OpaquePointer?
    guard
      sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil) == SQLITE_OK,
      let statement
    else { throw BenchmarkError.sqlite("prepare") }
    return statement
  }
}
