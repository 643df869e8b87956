import Dispatch
import HTTPCacheFiles
import HTTPCacheStore

/// Finds sealed responses (`SealedStore`) and responses in the clear, and removes what is in the clear.
struct PlainContent: Sendable {
  /// The beginning of the targets of all sealed responses, and the text that sorts right after all of them.
  private static let (mark, afterMark) = (
    SealedTarget.mark, String(SealedTarget.mark.dropLast() + ".")
  )
  // Two conditions, so that each is one range of SQLite's index.
  private static let plainEntries = ["target < '\(mark)'", "target >= '\(afterMark)'"]
  // Sealed refusals have no status.
  private static let plainRefusals = "status <> 0"
  // An epoch of the partition without a name reveals nothing, and sealed responses use it too.
  private static let plainEpochs =
    "kind <> 0 AND scope <> '' AND (scope < '\(mark)' OR scope >= '\(afterMark)')"
  private static let sealedMark = "SELECT value FROM meta WHERE name = 'sealed'"
  fileprivate static let mostCounted = 10_000
  private static let patience = DispatchTimeInterval.seconds(30)

  let directory: String
  let thread: IndexThread
  let sweeper: Sweeper
  let policy: DiskEvictionPolicy
  let clock: any CacheClock

  /// Removes everything in the directory that is not encrypted, and overwrites it as far as files can be
  /// overwritten: rows and removed rows in free pages, body files, files of dead processes, copies that were
  /// handed out, indexes that were set aside, and counters that depend on keys. If nothing was stored in the
  /// clear since the last call, this costs two look-ups. On the calling thread.
  func remove() throws(CacheError) -> Int {
    var attempt = 0
    while true {
      attempt += 1
      let opened = thread.currentDirectory
      do throws(CacheError) {
        let count = try remove(from: opened)
        if thread.currentDirectory === opened || attempt >= 3 { return count }
      } catch {
        guard error.cause is IndexDamage, attempt < 3 else { throw error }
        replace(opened, after: error)
        guard thread.currentDirectory !== opened else { throw error }
      }
    }
  }

  // Replaces a damaged index on the index thread. The new index has another `secret`.
  private func replace(_ opened: OpenDirectory, after error: CacheError) {
    let isDone = DispatchSemaphore(value: 0)
    thread.queue.submit { [thread] in
      thread.handleIndexError(error, of: opened)
      isDone.signal()
    }
    _ = isDone.wait(timeout: .now() + Self.patience)
  }

  private func remove(from opened: OpenDirectory) throws(CacheError) -> Int {
    let (count, hasOther, last, wasClean) = try opened.index.withWriter { (connection) throws(CacheError) in
      (
        try Self.countPlain(connection), try Self.hasOtherPlain(connection),
        try IndexState(connection).sequence, try connection.number(Self.sealedMark) == 1
      )
    }
    if count == 0, !hasOther, wasClean { return 0 }
    // Until all is done, the next process that opens the directory has to look again.
    if wasClean { try setSealed(false, in: opened) }
    let isIdle = DispatchSemaphore(value: 0)
    sweeper.queue.submit { isIdle.signal() }
    guard isIdle.wait(timeout: .now() + Self.patience) == .success else {
      throw CacheError(.busy, "what dead processes left is still being looked for")
    }
    for plain in Self.plainEntries {
      // Remove rows up to `last` only: a process without the key may store rows faster than this removes them.
      while try opened.removeRows(where: "\(plain) AND id <= ? LIMIT 256", [.integer(last)]) > 0 {}
    }
    try opened.index.write { (connection) throws(CacheError) in
      try connection.run("DELETE FROM refusal WHERE \(Self.plainRefusals)")
      try connection.run("DELETE FROM epoch WHERE \(Self.plainEpochs)")
    }
    // Forget counters that depend on hashes of keys: guesses of a key could be tested against them.
    opened.changes.level()
    policy.forgetUses()
    _ = opened.removeSetAside()
    try FileHandout.sweep(in: directory, all: true)
    try sweeper.removeOrphans(of: opened)
    do throws(CacheError) { try opened.emptyLog(clock) } catch {
      // Another process that opened the directory at the same time may have emptied the log.
      guard count == 0, !hasOther, try isSealed(opened) else { throw error }
      return 0
    }
    let isClean = try opened.index.withWriter { (connection) throws(CacheError) in
      if try Self.countPlain(connection) > 0 { return false }
      return try !Self.hasOtherPlain(connection)
    }
    if isClean { try setSealed(true, in: opened) }
    return count
  }

  private static func countPlain(_ connection: SQLiteConnection) throws(CacheError) -> Int {
    var sum = 0
    for condition in plainEntries { sum += try connection.count(condition) }
    return min(sum, mostCounted)
  }

  private static func hasOtherPlain(_ connection: SQLiteConnection) throws(CacheError) -> Bool {
    let sql = """
      SELECT EXISTS (SELECT 1 FROM refusal WHERE \(plainRefusals))
      OR EXISTS (SELECT 1 FROM epoch WHERE \(plainEpochs))
      """
    return try connection.number(sql) != 0
  }

  /// Notes that from now on responses may be stored in the clear. On the calling thread.
  func mayStore() throws(CacheError) {
    let opened = thread.currentDirectory
    if try isSealed(opened) { try setSealed(false, in: opened) }
  }

  /// The number of sealed responses in the directory, without those of a key, at most `mostCounted`.
  func countSealed(exceptKey keyID: [UInt8]?) throws(CacheError) -> Int {
    // All sealed responses, or those before and after the responses of the key.
    var ranges = [(Self.mark, Self.afterMark)]
    if let prefix = keyID.map(SealedTarget.prefix(ofKey:)) {
      ranges = [(Self.mark, prefix), (prefix + "\u{10FFFF}", Self.afterMark)]
    }
    let opened = try thread.directoryToRead()
    return try thread.read(opened) { [ranges] (connection) throws(CacheError) in
      var sum = 0
      for (start, end) in ranges {
        sum += try connection.count("target >= ? AND target < ?", [.text(start), .text(end)])
      }
      return min(sum, Self.mostCounted)
    }
  }

  /// The number of responses in the directory that are in the clear, at most `mostCounted`.
  func count() throws(CacheError) -> Int {
    try thread.read(try thread.directoryToRead(), Self.countPlain)
  }

  private func isSealed(_ opened: OpenDirectory) throws(CacheError) -> Bool {
    try opened.index.number(Self.sealedMark) == 1
  }

  private func setSealed(_ isSealed: Bool, in opened: OpenDirectory) throws(CacheError) {
    _ = try opened.index.write { (connection) throws(CacheError) in
      try connection.run(
        "INSERT OR REPLACE INTO meta VALUES ('sealed', ?)", [.integer(isSealed ? 1 : 0)])
    }
  }
}

extension SQLiteConnection {
  /// The number of rows that match a condition, at most `PlainContent.mostCounted`.
  fileprivate func count(_ condition: String, _ values: [SQLiteValue] = []) throws(CacheError) -> Int {
    let sql =
      "SELECT count(*) FROM (SELECT 1 FROM entry WHERE \(condition) LIMIT \(PlainContent.mostCounted))"
    return Int(clamping: try number(sql, values) ?? 0)
  }
}
