import HTTPCacheStore
import Synchronization

/// The connections to `Cache.db`: one that writes and a few that read, each under its own lock.
///
/// The locks are held while SQLite works, which is the one exception to "nothing slow under a lock".
final class DiskIndex: Sendable {
  private let path: String
  private let durability: Durability
  private let writer: Mutex<Writer>
  private let readers: [Slot]
  private let longLog = Atomic<Bool>(false)
  private let mostLogPages = Atomic<Int>(Schema.logPages)

  private struct Writer: Sendable {
    let connection: SQLiteConnection
    /// Of the database after the last commit here; if it is another one, somebody else has written.
    var version: UInt32?
    var known: KnownIndex?
    /// When the right to write was last not to be had in all the time that is waited for it.
    var lockedOut: ContinuousClock.Instant?

    /// Does `body` in a transaction.
    ///
    /// - Parameter mayGiveUp: whether next to nothing is waited if another process was waited for in vain within
    ///   the last second, so that many do not wait one after the other.
    mutating func transaction<Value>(
      mayGiveUp: Bool, _ body: () throws(CacheError) -> Value
    ) throws(CacheError) -> Value {
      var hasBegun = false
      do throws(CacheError) {
        let isImpatient = mayGiveUp && (lockedOut.map { .now - $0 < .seconds(1) } ?? false)
        let value = try connection.transaction(isImpatient: isImpatient) { () throws(CacheError) in
          hasBegun = true
          return try body()
        }
        lockedOut = nil
        return value
      } catch {
        lockedOut = !hasBegun && error.code == .busy ? .now : nil
        throw error
      }
    }
  }

  private final class Slot: Sendable {
    let connection = Mutex<SQLiteConnection?>(nil)
  }

  /// Takes over a connection that was set up by `open`.
  init(path: String, writer: SQLiteConnection, durability: Durability) {
    self.path = path
    self.durability = durability
    self.writer = Mutex(Writer(connection: writer))
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

  /// Writes in one transaction on the calling thread, which must be one of the store's own. Rows that are
  /// new are taken into all indexes before.
  ///
  /// - Throws: `CacheError.newerFormat` if a newer version has taken the database over meanwhile; nothing
  ///   is written then.
  func write<Value: Sendable>(
    _ body: (SQLiteConnection) throws(CacheError) -> Value
  ) throws(CacheError) -> Value {
    try writeKnowing { (connection, known) throws(CacheError) in
      known = nil
      _ = try IndexState(listing: connection)
      return try body(connection)
    }
  }

  /// Takes rows that are new into all indexes, if there are any.
  func listNew() throws(CacheError) {
    let state = try readLatest { (connection) throws(CacheError) in try IndexState(connection) }
    if state.unlisted > 0 { try write { _ in } }
  }

  /// The same as `write` for who keeps what is known of the index up to date.
  ///
  /// - Parameter mayGiveUp: whether it is no harm not to write where many wait for another process.
  func writeKnowing<Value: Sendable>(
    mayGiveUp: Bool = false,
    _ body: (SQLiteConnection, inout KnownIndex?) throws(CacheError) -> Value
  ) throws(CacheError) -> Value {
    let result: Result<Value, CacheError> = writer.withLock { writer in
      let connection = writer.connection
      if connection.logPages >= mostLogPages.load(ordering: .relaxed) { Self.checkpoint(&writer) }
      do throws(CacheError) {
        var known = writer.known
        let version = writer.version
        (writer.known, writer.version) = (nil, nil)
        let value = try writer.transaction(mayGiveUp: mayGiveUp) { () throws(CacheError) in
          if connection.dataVersion != version {
            known = nil
            try Self.requireFormat(connection)
          }
          return try body(connection, &known)
        }
        (writer.known, writer.version) = (known, connection.dataVersion)
        return .success(value)
      } catch { return .failure(error) }
    }
    return try result.get()
  }

  /// Writes in one transaction on whatever thread, if that waits for nobody: not for another writer, not
  /// for a checkpoint, and not for a disk.
  ///
  /// - Parameter body: nil if it cannot be done so, and nothing shall be written.
  /// - Returns: nil if it was not done.
  func writeIfFree<Value: Sendable>(
    _ body: (SQLiteConnection, inout KnownIndex?) throws(CacheError) -> Value?
  ) throws(CacheError) -> Value? {
    guard durability == .relaxed else { return nil }
    let result: Result<Value?, CacheError>? = writer.withLockIfAvailable { writer in
      let connection = writer.connection
      // The first commit of a log syncs its header.
      guard (1..<mostLogPages.load(ordering: .relaxed)).contains(connection.logPages),
        let version = writer.version,
        connection.tryBegin()
      else { return .success(nil) }
      var known = writer.known
      (writer.known, writer.version) = (nil, nil)
      do throws(CacheError) {
        guard connection.dataVersion == version, let value = try body(connection, &known) else {
          connection.rollBack()
          return .success(nil)
        }
        try connection.commit()
        longLog.store(connection.logPages >= mostLogPages.load(ordering: .relaxed), ordering: .relaxed)
        (writer.known, writer.version) = (known, connection.dataVersion)
        return .success(value)
      } catch {
        connection.rollBack()
        return .failure(error)
      }
    }
    return try result?.get()
  }

  private static func requireFormat(_ connection: SQLiteConnection) throws(CacheError) {
    let format = try connection.number("PRAGMA user_version") ?? 0
    guard format <= Schema.format else { throw Database.newer(format) }
  }

  // MARK: The log

  /// Whether the log was so long after the last commit that it should be played into the database.
  var hasLongLog: Bool { longLog.load(ordering: .relaxed) }

  /// What the log takes at most, about.
  var mostLogBytes: Int64 { Int64(mostLogPages.load(ordering: .relaxed)) * PageCount.pageSize }

  /// From how many pages on the log is played into the database.
  func setLogPages(_ pages: Int) { mostLogPages.store(pages, ordering: .relaxed) }

  /// Plays the log into the database if it is long; on a thread of the store's own.
  func checkpointIfLong() {
    writer.withLock { writer in
      guard writer.connection.logPages >= mostLogPages.load(ordering: .relaxed) else { return }
      Self.checkpoint(&writer)
      longLog.store(writer.connection.logPages >= mostLogPages.load(ordering: .relaxed), ordering: .relaxed)
    }
  }

  private static func checkpoint(_ writer: inout Writer) {
    let connection = writer.connection
    guard connection.checkpoint() else { return }
    (writer.known, writer.version) = (nil, nil)
    // Begins the log anew, which syncs its header, so that nobody else waits for that.
    let begun: Void? = try? writer.transaction(mayGiveUp: true) { () throws(CacheError) in
      try requireFormat(connection)
      var state = try IndexState(listing: connection)
      _ = state.nextSequence()
      try state.save(connection)
    }
    if begun != nil { writer.version = connection.dataVersion }
  }

  /// Reads with the writing connection, outside of a transaction: what the last commit left.
  func readLatest<Value: Sendable>(
    _ body: (SQLiteConnection) throws(CacheError) -> Value
  ) throws(CacheError) -> Value {
    let result: Result<Value, CacheError> = writer.withLock { writer in
      do throws(CacheError) { return .success(try body(writer.connection)) } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }

  /// Uses the writing connection outside of a transaction, to change the file or the log.
  func withWriter<Value: Sendable>(
    _ body: (SQLiteConnection) throws(CacheError) -> Value
  ) throws(CacheError) -> Value {
    let result: Result<Value, CacheError> = writer.withLock { writer in
      (writer.known, writer.version) = (nil, nil)
      do throws(CacheError) { return .success(try body(writer.connection)) } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }
}
