import CSQLite
import Testing

/// A reader of an old state of an index, as another process would be.
final class LogHolder {
  private let connection: OpaquePointer

  init(_ path: String) throws {
    var opened: OpaquePointer?
    #expect(sqlite3_open(path, &opened) == SQLITE_OK)
    connection = try #require(opened)
    let sql = "BEGIN; SELECT count(*) FROM entry"
    #expect(sqlite3_exec(connection, sql, nil, nil, nil) == SQLITE_OK)
  }

  deinit { sqlite3_close(connection) }

  func letGo() { #expect(sqlite3_exec(connection, "COMMIT", nil, nil, nil) == SQLITE_OK) }
}
