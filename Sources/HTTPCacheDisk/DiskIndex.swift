import HTTPCacheStore
import Synchronization

/// The connections to `Cache.db`: one that writes and a few that read, each under its own lock.
///
/// The locks are held while SQLite works, which is the one exception to "nothing slow under a lock".
final class DiskIndex: Sendable {
  private let path: String
  private let durability: Durability
  private let writer: Mutex<SQLiteConnection>
  private let readers: [Slot]

  private final class Slot: Sendable {
    let connection = Mutex<SQLiteConnection?>(nil)
  }

  /// Takes over a connection that was set up by `open`.
  init(path: String, writer: SQLiteConnection, durability: Durability) {
    self.path = path
    self.durability = durability
    self.writer = Mutex(writer)
    readers = [Slot(), Slot(), Slot()]
  }

  /// Reads on the calling thread.
  func read<Value: Sendable>(
    _ body: (SQLiteConnection) throws(CacheError) -> Value
  ) throws(CacheError) -> Value {
    var result: Result<Value, CacheError>?
    for slot in readers {
      result = slot.connection.withLockIfAvailable { use(&$0, body) }
      if let result { return try result.get() }
    }
    return try readers[0].connection.withLock { use(&$0, body) }.get()
  }

  private func use<Value: Sendable>(
    _ connection: inout SQLiteConnection?, _ body: (SQLiteConnection) throws(CacheError) -> Value
  ) -> Result<Value, CacheError> {
    do throws(CacheError) {
      if let connection { return .success(try body(connection)) }
      let opened = try SQLiteConnection(path: path, creating: false)
      try opened.execute(Schema.settings(durability: durability))
      try opened.execute("PRAGMA query_only = ON")
      connection = opened
      return .success(try body(opened))
    } catch {
      return .failure(error)
    }
  }

  /// Writes in one transaction on the calling thread, which must be one of the store's own.
  ///
  /// - Throws: `CacheError.newerFormat` if a newer version has taken the database over meanwhile; nothing
  ///   is written then.
  func write<Value: Sendable>(
    _ body: (SQLiteConnection) throws(CacheError) -> Value
  ) throws(CacheError) -> Value {
    try withWriter { (connection) throws(CacheError) in
      try connection.transaction { () throws(CacheError) in
        let format = try connection.number("PRAGMA user_version") ?? 0
        guard format <= Schema.format else { throw Database.newer(format) }
        return try body(connection)
      }
    }
  }

  /// Uses the writing connection outside of a transaction.
  func withWriter<Value: Sendable>(
    _ body: (SQLiteConnection) throws(CacheError) -> Value
  ) throws(CacheError) -> Value {
    let result: Result<Value, CacheError> = writer.withLock { connection in
      do throws(CacheError) { return .success(try body(connection)) } catch { return .failure(error) }
    }
    return try result.get()
  }
}
