import HTTPCacheStore
import HTTPCacheTesting
import Testing

@testable import HTTPCacheDisk

@Suite(.timeLimit(.minutes(10))) struct SQLiteStatementTests {
  @Test("a statement that is run again while it runs ends a debug build")
  func reentrance() async {
    await #expect(processExitsWith: .failure) {
      let directory = try ScratchFolder()
      let connection = try SQLiteConnection(path: directory.path("a.db"), creating: true)
      try nest("SELECT 1 UNION SELECT 2", in: "SELECT 1 UNION SELECT 2", connection)
    }
  }

  @Test("another statement may run within a row of the first")
  func nested() throws {
    let directory = try ScratchFolder()
    let connection = try SQLiteConnection(path: directory.path("a.db"), creating: true)
    #expect(try nest("SELECT 3", in: "SELECT 1 UNION SELECT 2", connection) == 2)
  }
}

/// Runs a statement within each row of another statement.
///
/// - Returns: the number of rows of the outer statement.
@discardableResult
private func nest(
  _ inner: String, in outer: String, _ connection: SQLiteConnection
) throws(CacheError) -> Int {
  var rows = 0
  try connection.query(outer) { (_) throws(CacheError) in
    rows += 1
    try connection.query(inner) { _ in true }
    return true
  }
  return rows
}
