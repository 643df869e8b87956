import CSQLite
import Foundation
import HTTPCacheFaults
import HTTPCacheStore
import Testing

@testable import HTTPCacheDisk

/// The frames of a transaction go to the write-ahead log in one piece, and nobody can tell.
@Suite(.timeLimit(.minutes(10))) struct JoinedFramesTests {
  private let directory: TemporaryDirectory
  private let path: String

  init() throws {
    directory = try TemporaryDirectory()
    path = directory.path("a.db")
  }

  /// - Parameter pages: of the connection's memory; with fewer than a transaction changes, frames go out before
  ///   it commits.
  private func connect(joinsFrames: Bool = true, pages: Int = 500) throws -> SQLiteConnection {
    let connection = try SQLiteConnection(path: path, creating: true, joinsFrames: joinsFrames)
    try connection.execute(
      """
      PRAGMA page_size = 4096; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
      PRAGMA cache_size = \(pages); CREATE TABLE IF NOT EXISTS t (id INTEGER PRIMARY KEY, value BLOB);
      """)
    return connection
  }

  private func insert(_ ids: Range<Int64>, _ connection: SQLiteConnection) throws(CacheError) {
    for id in ids {
      try connection.run(
        "INSERT OR REPLACE INTO t VALUES (?, ?)",
        [.integer(id), .blob([UInt8](repeating: UInt8(truncatingIfNeeded: id), count: 3_000))])
    }
  }

  /// What the files would be after a crash now, read by SQLite alone.
  private func afterCrash() throws -> Int64 {
    let copy = directory.path("copy.db")
    for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: copy + suffix) }
    for suffix in ["", "-wal"] {
      try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix)
    }
    let connection = try SQLiteConnection(path: copy, creating: false)
    #expect(try isSound(connection))
    return try connection.number("SELECT count(*) FROM t") ?? -1
  }

  private func isSound(_ connection: SQLiteConnection) throws -> Bool {
    var text = ""
    try connection.query("PRAGMA integrity_check") { row in
      text += row.text(0) ?? ""
      return true
    }
    return text == "ok"
  }

  @Test("what is committed is in the file at once, for others and after a crash")
  func committed() throws {
    let writer = try connect()
    let other = try connect(joinsFrames: false)
    for id in Int64(0)..<50 {
      try insert(id..<id + 1, writer)
      #expect(try other.number("SELECT count(*) FROM t") == id + 1)
      #expect(try afterCrash() == id + 1)
    }
  }

  @Test("a transaction larger than memory is there whole, or not at all", arguments: [8, 500])
  func large(pages: Int) throws {
    let writer = try connect(pages: pages)
    let other = try connect(joinsFrames: false)
    try writer.transaction { () throws(CacheError) in
      for round in 0..<3 { try insert(Int64(round) * 50..<Int64(round + 2) * 50, writer) }
    }
    #expect(try other.number("SELECT count(*) FROM t") == 200)
    #expect(try afterCrash() == 200)
    try writer.transaction { () throws(CacheError) in
      try insert(0..<400, writer)
      // Frames of the same transaction are written again, and their checksums after the last of them.
      try insert(100..<300, writer)
      try insert(0..<1, writer)
    }
    #expect(try other.number("SELECT count(*) FROM t") == 400)
    #expect(try isSound(other))
    #expect(try afterCrash() == 400)
  }

  @Test("what was rolled back is not written later, over what others committed meanwhile")
  func rolledBack() throws {
    let writer = try connect(pages: 8)
    let other = try connect(joinsFrames: false)
    try insert(0..<10, writer)
    for round in Int64(1)..<20 {
      #expect(throws: CacheError.self) {
        try writer.transaction { () throws(CacheError) in
          try insert(0..<100 + round, writer)
          throw CacheError(.closed, "as a test wants it")
        }
      }
      #expect(try insertAndCount(round * 1_000, other) == 10 + round * 2 - 1)
      #expect(try insertAndCount(round * 1_000 + 500, writer) == 10 + round * 2)
      #expect(try isSound(other))
      #expect(try afterCrash() == 10 + round * 2)
    }
  }

  private func insertAndCount(_ id: Int64, _ connection: SQLiteConnection) throws -> Int64? {
    try insert(id..<id + 1, connection)
    return try connection.number("SELECT count(*) FROM t")
  }

  @Test("a part of a transaction that is undone leaves the rest", arguments: [8, 500])
  func savepoint(pages: Int) throws {
    let writer = try connect(pages: pages)
    try writer.transaction { () throws(CacheError) in
      try insert(0..<60, writer)
      do throws(CacheError) {
        try writer.savepoint { () throws(CacheError) in
          try insert(60..<200, writer)
          throw CacheError(.closed, "as a test wants it")
        }
      } catch {}
      try insert(200..<230, writer)
    }
    #expect(try writer.number("SELECT count(*) FROM t") == 90)
    #expect(try isSound(writer))
    #expect(try afterCrash() == 90)
  }

  @Test("a log that others begin anew is gone on with")
  func begunAnew() throws {
    let writer = try connect()
    let other = try connect(joinsFrames: false)
    for round in Int64(0)..<30 {
      try insert(round * 10..<round * 10 + 5, writer)
      if round % 3 == 1 { try other.truncateLog(waiting: false) }
      if round % 3 == 2 { _ = other.checkpoint() }
      try insert(round * 10 + 5..<round * 10 + 7, other)
      #expect(try writer.number("SELECT count(*) FROM t") == 7 * (round + 1))
      #expect(try afterCrash() == 7 * (round + 1))
    }
    #expect(try isSound(writer))
  }

  @Test("many pages at once are more than one piece")
  func manyPages() throws {
    let writer = try connect(pages: 4_000)
    try writer.transaction { () throws(CacheError) in try insert(0..<1_000, writer) }
    #expect(try afterCrash() == 1_000)
  }

  @Test(
    "a write to the log that fails once, on behalf of whatever, costs the transaction or nothing",
    .enabled(if: SystemFaults.isAvailable), arguments: [SystemFault.noSpace, .inputOutput, .torn(bytes: 512)])
  func failingWrite(_ fault: SystemFault) throws {
    for number in 1..<12 {
      let directory = try TemporaryDirectory()
      let faults = try SystemFaults(below: directory.path)
      let path = faults.folder + "/a.db"
      let writer = try SQLiteConnection(path: path, creating: true, joinsFrames: true)
      // Few pages, so that frames go out before the commit and are read again within the transaction.
      try writer.execute(
        """
        PRAGMA page_size = 4096; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = 20;
        CREATE TABLE t (id INTEGER PRIMARY KEY, turn INTEGER NOT NULL, value BLOB);
        """)
      try insert(0..<200, writer, turn: 0)
      try writer.truncateLog(waiting: false)
      var isCommitted = false
      do throws(CacheError) {
        try writer.transaction { () throws(CacheError) in
          try insert(0..<60, writer, turn: 1)
          faults.fail(.write, onFilesEndingIn: "-wal", with: fault, at: number)
          do throws(CacheError) {
            _ = try writer.savepoint { () throws(CacheError) in
              // Has a journal of its own, so that it can be undone alone.
              try writer.run("UPDATE t SET turn = turn + 1 WHERE id BETWEEN 1 AND 40")
            }
          } catch { guard writer.isInTransaction else { throw error } }
          try insert(200..<210, writer, turn: 1)
        }
        isCommitted = true
      } catch {}
      faults.heal()
      let other = try SQLiteConnection(path: path, creating: false)
      #expect(try isSound(other), "\(fault) \(number)")
      #expect(try other.number("SELECT count(*) FROM t") == (isCommitted ? 210 : 200), "\(fault) \(number)")
      try writer.truncateLog(waiting: false)
      #expect(try isSound(other), "\(fault) \(number)")
    }
  }

  private func insert(_ ids: Range<Int64>, _ connection: SQLiteConnection, turn: Int64) throws(CacheError) {
    for id in ids {
      try connection.run(
        "INSERT OR REPLACE INTO t VALUES (?, ?, ?)",
        [
          .integer(id), .integer(turn),
          .blob([UInt8](repeating: UInt8(truncatingIfNeeded: id), count: 3_000)),
        ])
    }
  }
}
