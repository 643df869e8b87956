import CSQLite
import Foundation
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

/// A checkpoint that waits for a reader, as another process would make it. SQLite lets no other begin meanwhile.
final class WaitingCheckpoint: Sendable {
  private let task: Task<Bool, Never>

  /// - Parameter path: the index; a reader must hold its log.
  init(_ path: String) {
    task = Task.detached {
      await withCheckedContinuation { continuation in
        Thread.detachNewThread { continuation.resume(returning: Self.run(path)) }
      }
    }
  }

  private static func run(_ path: String) -> Bool {
    var connection: OpaquePointer?
    defer { sqlite3_close(connection) }
    guard open(path, &connection) else { return false }
    sqlite3_busy_timeout(connection, 60_000)
    // SQLite waits for readers, but fails at once while another connection makes a checkpoint: the store when it is
    // idle, or `isUnderWay`.
    for _ in 0..<6_000 {
      let result = sqlite3_wal_checkpoint_v2(connection, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
      guard result == SQLITE_BUSY else { return result == SQLITE_OK }
      sqlite3_sleep(10)
    }
    return false
  }

  /// Whether a checkpoint has begun: then another one fails at once.
  static func isUnderWay(_ path: String) -> Bool {
    var connection: OpaquePointer?
    defer { sqlite3_close(connection) }
    guard open(path, &connection) else { return false }
    return sqlite3_wal_checkpoint_v2(connection, nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil) == SQLITE_BUSY
  }

  private static func open(_ path: String, _ connection: inout OpaquePointer?) -> Bool {
    // A connection knows of the log once it has read.
    sqlite3_open(path, &connection) == SQLITE_OK
      && sqlite3_exec(connection, "SELECT count(*) FROM entry", nil, nil, nil) == SQLITE_OK
  }

  /// Whether the checkpoint was made.
  func end() async -> Bool { await task.value }
}
