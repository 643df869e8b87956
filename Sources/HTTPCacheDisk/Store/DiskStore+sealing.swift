import HTTPCacheSemantics
public import HTTPCacheStore
import Synchronization

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

extension DiskStore {
  /// What begins the targets of all sealed responses, and the text after all of these.
  fileprivate static let (mark, afterMark) = (
    SealedStore.targetMark, String(SealedStore.targetMark.dropLast() + ".")
  )
  private static let mostCounted = 10_000

  /// Removes for good whatever lies in the directory in the clear, as far as files can be overwritten:
  /// rows and what SQLite keeps of removed ones, body files, what dead processes left of them, copies that
  /// were handed out, indexes that were set aside, counters that go by names. Where it was done before and
  /// nothing came since, it costs two look-ups. On the calling thread.
  ///
  /// - Returns: how many responses there were, 10,000 at most.
  /// - Throws: `CacheError`; with `busy` if another process reads the index, and something may be left in
  ///   its log.
  package func removePlain() throws(CacheError) -> Int {
    var attempts = 0
    while true {
      let opened = currentDirectory
      do throws(CacheError) {
        let count = try removePlain(in: opened)
        attempts += 1
        if currentDirectory === opened || attempts >= 3 { return count }
      } catch {
        attempts += 1
        guard error.cause is IndexDamage, attempts < 3 else { throw error }
        replace(opened, after: error)
        guard currentDirectory !== opened else { throw error }
      }
    }
  }

  // An index that is damaged is replaced on its thread; `secret` is another one then.
  private func replace(_ opened: OpenDirectory, after error: CacheError) {
    let isDone = Event()
    indexQueue.submit { [weak self] in
      self?.answer(error, of: opened)
      isDone.happen()
    }
    _ = isDone.wait(seconds: Self.patience)
  }

  // Seconds.
  private static let patience = 30

  private func removePlain(in opened: OpenDirectory) throws(CacheError) -> Int {
    let (before, last, wasClean) = try opened.index.withWriter { (connection) throws(CacheError) in
      let flag = try connection.number("SELECT value FROM meta WHERE name = 'sealed'")
      return (try Plain(connection), try IndexState(connection).sequence, flag == 1)
    }
    if before.isNothing, wasClean { return 0 }
    // Until all is done, who opens it next has to look again.
    try setSealed(false, in: opened)
    let isIdle = Event()
    sweeps.whenIdle { isIdle.happen() }
    guard isIdle.wait(seconds: Self.patience) else {
      throw CacheError(.busy, "what dead processes left is still being looked for")
    }
    for plain in ["target < '\(Self.mark)'", "target >= '\(Self.afterMark)'"] {
      // What somebody without the key stores meanwhile could come faster than it is removed.
      let sql = """
        SELECT \(EntryRow.columns) FROM entry WHERE \(plain) AND id <= \(last) LIMIT 256
        """
      while try !removeRows(in: opened, sql, []).isEmpty {}
    }
    try opened.index.write { (connection) throws(CacheError) in
      try connection.run("DELETE FROM refusal WHERE \(Plain.note)")
      try connection.run("DELETE FROM epoch WHERE \(Plain.epoch)")
    }
    forgetCounts(in: opened)
    _ = opened.removeSetAside()
    FileHandout.sweep(in: directory, isThorough: true)
    try removeOrphans(of: opened)
    // Where nothing was ever stored there is nothing to overwrite, and others may be about to begin.
    if last > 0 || !before.isNothing {
      // Directories of older versions have bytes of removed rows in their pages.
      try opened.index.withWriter { (connection) throws(CacheError) in try connection.makeAnew() }
      try emptyLog(of: opened)
    }
    let after = try opened.index.withWriter { (connection) throws(CacheError) in try Plain(connection) }
    if after.isNothing { try setSealed(true, in: opened) }
    return min(before.responses, Self.mostCounted)
  }

  // They go by hashes, of which guesses can be tested.
  private func forgetCounts(in opened: OpenDirectory) {
    opened.generations?.level()
    policy.withLock { $0 = EvictionPolicy(exponent: Self.evictionExponent, inflation: $0.inflation) }
  }

  /// What lies in the index in the clear.
  private struct Plain: Sendable {
    /// Of notes: sealed ones have no status.
    static let note = "status <> 0"
    /// Of epochs; the one of the partition without a name tells nothing, and is for sealed responses as well.
    static let epoch =
      "kind <> 0 AND scope <> '' AND (scope < '\(DiskStore.mark)' OR scope >= '\(DiskStore.afterMark)')"

    let responses: Int
    let hasOther: Bool

    var isNothing: Bool { responses == 0 && !hasOther }

    init(_ connection: SQLiteConnection) throws(CacheError) {
      let before = try DiskStore.count("target < ?", [.text(DiskStore.mark)], connection)
      let after = try DiskStore.count("target >= ?", [.text(DiskStore.afterMark)], connection)
      responses = before + after
      let other = try connection.number(
        """
        SELECT EXISTS (SELECT 1 FROM refusal WHERE \(Self.note))
        OR EXISTS (SELECT 1 FROM epoch WHERE \(Self.epoch))
        """)
      hasOther = other != 0
    }
  }

  /// Takes note that from now on what is stored may lie in the clear. On the calling thread.
  ///
  /// - Throws: `CacheError`.
  package func mayStorePlain() throws(CacheError) {
    let opened = currentDirectory
    let flag = try opened.index.read { (connection) throws(CacheError) in
      try connection.number("SELECT value FROM meta WHERE name = 'sealed'")
    }
    if flag == 1 { try setSealed(false, in: opened) }
  }

  /// How many responses lie in the directory that were sealed (`SealedStore`); 10,000 at most.
  ///
  /// - Parameter cipher: what this one sealed does not count.
  /// - Throws: `CacheError`.
  public func countSealed(except cipher: (any CacheCipher)? = nil) throws(CacheError) -> Int {
    let prefix = cipher.map { SealedStore.prefix(of: $0) }
    let opened = try directoryToRead()
    return try reading(opened) { (connection) throws(CacheError) in
      guard let prefix else {
        return try Self.count(
          "target >= ? AND target < ?", [.text(Self.mark), .text(Self.afterMark)], connection)
      }
      let before = try Self.count(
        "target >= ? AND target < ?", [.text(Self.mark), .text(prefix)], connection)
      let after = try Self.count(
        "target >= ? AND target < ?", [.text(prefix + "\u{10FFFF}"), .text(Self.afterMark)],
        connection)
      return min(before + after, Self.mostCounted)
    }
  }

  /// How many responses lie in the directory in the clear; 10,000 at most.
  ///
  /// - Throws: `CacheError`.
  public func countPlain() throws(CacheError) -> Int {
    let opened = try directoryToRead()
    return try reading(opened) { (connection) throws(CacheError) in
      min(try Plain(connection).responses, Self.mostCounted)
    }
  }

  private func setSealed(_ isSealed: Bool, in opened: OpenDirectory) throws(CacheError) {
    _ = try opened.index.write { (connection) throws(CacheError) in
      try connection.run(
        "INSERT OR REPLACE INTO meta VALUES ('sealed', ?)", [.integer(isSealed ? 1 : 0)])
    }
  }

  fileprivate static func count(
    _ condition: String, _ values: [SQLiteValue], _ connection: SQLiteConnection
  ) throws(CacheError) -> Int {
    let sql =
      "SELECT count(*) FROM (SELECT 1 FROM entry WHERE \(condition) LIMIT \(mostCounted))"
    return Int(clamping: try connection.number(sql, values) ?? 0)
  }
}
