import HTTPCacheStore
import Synchronization

/// The connections to the index: one that writes and a few that read, each under its own lock.
///
/// The locks are held while SQLite works, which is the one exception to "nothing slow under a lock".
final class DiskIndex: Sendable {
  private let path: String
  private let durability: Durability
  // Nil after `close`.
  private let writer: Mutex<SQLiteConnection?>
  private let readers: [Slot]
  private let isClosed = Atomic<Bool>(false)
  private let mostLogPages = Atomic<Int>(Schema.logPages)

  private final class Slot: Sendable {
    let connection = Mutex<SQLiteConnection?>(nil)
  }

  /// Takes over a connection that was set up by `OpenDirectory.open`.
  init(path: String, writer: SQLiteConnection, durability: Durability) {
    self.path = path
    self.durability = durability
    self.writer = Mutex(writer)
    readers = [Slot(), Slot(), Slot()]
  }

  private static var closed: CacheError { CacheError(.closed, "the store was closed") }

  /// - Throws: `CacheError.closed` after `close`.
  func requireOpen() throws(CacheError) {
    if isClosed.load(ordering: .acquiring) { throw Self.closed }
  }

  /// Closes the connections, after waiting for those in use.
  func close() {
    isClosed.store(true, ordering: .releasing)
    for slot in readers { slot.connection.withLock { $0 = nil } }
    writer.withLock { $0 = nil }
  }

  /// Reads on the calling thread.
  func read<Value: Sendable>(
    _ body: (SQLiteConnection) throws(CacheError) -> Value
  ) throws(CacheError) -> Value {
    for slot in readers {
      let value = try slot.connection.withLockIfAvailable { (connection) throws(CacheError) in
        try use(&connection, body)
      }
      if let value { return value }
    }
    return try readers[0].connection.withLock { (connection) throws(CacheError) in
      try use(&connection, body)
    }
  }

  /// Reads one number, as `SQLiteConnection.number` does.
  func number(_ sql: String, _ values: [SQLiteValue] = []) throws(CacheError) -> Int64? {
    try read { (connection) throws(CacheError) in try connection.number(sql, values) }
  }

  /// The rows that match a condition.
  func rows(where condition: String, _ values: [SQLiteValue] = []) throws(CacheError) -> [EntryRow] {
    try read { (connection) throws(CacheError) in try connection.rows(where: condition, values) }
  }

  /// The pieces of an entry, as `SQLiteConnection.pieces` reads them.
  func pieces(of id: Int64, wholeLength: Int64? = nil) throws(CacheError) -> StoredPieces {
    try read { (connection) throws(CacheError) in try connection.pieces(of: id, wholeLength: wholeLength) }
  }

  private func use<Value: Sendable>(
    _ connection: inout SQLiteConnection?, _ body: (SQLiteConnection) throws(CacheError) -> Value
  ) throws(CacheError) -> Value {
    if let connection { return try body(connection) }
    try requireOpen()
    let opened = try SQLiteConnection(path: path, creating: false)
    try opened.execute(Schema.settings(durability: durability))
    try opened.execute("PRAGMA query_only = ON")
    connection = opened
    return try body(opened)
  }

  /// Writes in one transaction on the calling thread, which must be a thread of the store. Transactions after
  /// which files are deleted or counters raised use `OpenDirectory.write`.
  ///
  /// - Throws: `CacheError.newerFormat` if a newer version has changed the format of the index meanwhile.
  ///   Nothing is written then.
  func write<Value: Sendable>(
    _ body: (SQLiteConnection) throws(CacheError) -> Value
  ) throws(CacheError) -> Value {
    try withWriter { (connection) throws(CacheError) in
      if connection.logPages >= mostLogPages.load(ordering: .relaxed) { connection.checkpoint() }
      return try connection.transaction { () throws(CacheError) in
        try Self.requireFormat(connection)
        return try body(connection)
      }
    }
  }

  private static func requireFormat(_ connection: SQLiteConnection) throws(CacheError) {
    let format = try connection.number("PRAGMA user_version") ?? 0
    guard format <= Schema.indexFormat else { throw Database.newer(format) }
  }

  /// Runs statements without parameters and results on the writing connection, outside a transaction.
  func execute(_ sql: String) throws(CacheError) {
    try withWriter { (connection) throws(CacheError) in try connection.execute(sql) }
  }

  // MARK: The log

  /// Sets the number of pages in the log from which a checkpoint is made.
  func setLogPages(_ pages: Int) { mostLogPages.store(pages, ordering: .relaxed) }

  /// Makes a checkpoint and empties the log, if no process reads an older state.
  ///
  /// - Parameter waiting: whether to wait for such a process, for some seconds at most.
  /// - Returns: whether the log is empty now.
  @discardableResult
  func truncateLog(waiting: Bool) throws(CacheError) -> Bool {
    try withWriter { (connection) throws(CacheError) in try connection.truncateLog(waiting: waiting) }
  }

  /// Uses the writing connection outside a transaction: to read the state after the last commit, or to change
  /// the file or the log.
  func withWriter<Value: Sendable>(
    _ body: (SQLiteConnection) throws(CacheError) -> Value
  ) throws(CacheError) -> Value {
    try writer.withLock { (connection) throws(CacheError) in
      guard let connection else { throw Self.closed }
      return try body(connection)
    }
  }
}
