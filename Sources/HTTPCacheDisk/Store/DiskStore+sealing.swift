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
  /// The beginning of the targets of all sealed responses, and the text that sorts right after all of them.
  fileprivate static let (mark, afterMark) = (
    SealedStore.targetMark, String(SealedStore.targetMark.dropLast() + ".")
  )
  private static let mostCounted = 10_000

  /// Removes everything in the directory that is not encrypted, and overwrites it as far as files can be
  /// overwritten: rows and removed rows in free pages, body files, files of dead processes, copies that were
  /// handed out, indexes that were set aside, and counters that depend on keys. If nothing was stored in the
  /// clear since the last call, this costs two look-ups. On the calling thread.
  ///
  /// - Returns: the number of responses in the clear, at most 10,000.
  /// - Throws: `CacheError`; `CacheError.busy` if another process reads the index, so that its log may still
  ///   have bytes in the clear.
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

  // Replaces a damaged index on the index thread. The new index has another `secret`.
  private func replace(_ opened: OpenDirectory, after error: CacheError) {
    let isDone = Event()
    indexQueue.submit { [weak self] in
      self?.answer(error, of: opened)
      isDone.happen()
    }
    _ = isDone.wait(seconds: Self.patience)
  }

  // In seconds.
  private static let patience = 30

  private func removePlain(in opened: OpenDirectory) throws(CacheError) -> Int {
    let (before, last, wasClean) = try opened.index.withWriter { (connection) throws(CacheError) in
      let flag = try connection.number("SELECT value FROM meta WHERE name = 'sealed'")
      return (try Plain(connection), try IndexState(connection).sequence, flag == 1)
    }
    if before.isNothing, wasClean { return 0 }
    // Until all is done, the next process that opens the directory has to look again.
    try setSealed(false, in: opened)
    let isIdle = Event()
    sweepQueue.submit { isIdle.happen() }
    guard isIdle.wait(seconds: Self.patience) else {
      throw CacheError(.busy, "what dead processes left is still being looked for")
    }
    for plain in ["target < '\(Self.mark)'", "target >= '\(Self.afterMark)'"] {
      // Remove rows up to `last` only: a process without the key may store rows faster than this removes them.
      let sql = """
        SELECT \(EntryRow.columns) FROM entry WHERE \(plain) AND id <= \(last) LIMIT 256
        """
      while try removeRows(in: opened, sql, []) > 0 {}
    }
    try opened.index.write { (connection) throws(CacheError) in
      try connection.run("DELETE FROM refusal WHERE \(Plain.note)")
      try connection.run("DELETE FROM epoch WHERE \(Plain.epoch)")
    }
    forgetCounts(in: opened)
    _ = opened.removeSetAside()
    FileHandout.sweep(in: directory, isThorough: true)
    try removeOrphans(of: opened)
    // Nothing has to be overwritten if nothing was ever stored. Other processes may be about to begin.
    if last > 0 || !before.isNothing {
      // Directories of older versions have bytes of removed rows in free pages.
      try opened.index.withWriter { (connection) throws(CacheError) in try connection.makeAnew() }
      try emptyLog(of: opened)
    }
    let after = try opened.index.withWriter { (connection) throws(CacheError) in try Plain(connection) }
    if after.isNothing { try setSealed(true, in: opened) }
    return min(before.responses, Self.mostCounted)
  }

  // Forgets counters that depend on hashes of keys: guesses of a key could be tested against them.
  private func forgetCounts(in opened: OpenDirectory) {
    opened.generations?.level()
    policy.withLock { $0 = EvictionPolicy(exponent: Self.evictionExponent, inflation: $0.inflation) }
  }

  /// The contents of the index that are in the clear.
  private struct Plain: Sendable {
    /// Selects refusals in the clear. Sealed ones have no status.
    static let note = "status <> 0"
    /// Selects epochs in the clear. An epoch of the partition without a name reveals nothing, and sealed
    /// responses use it too.
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

  /// Notes that from now on responses may be stored in the clear. On the calling thread.
  ///
  /// - Throws: `CacheError`.
  package func mayStorePlain() throws(CacheError) {
    let opened = currentDirectory
    let flag = try opened.index.read { (connection) throws(CacheError) in
      try connection.number("SELECT value FROM meta WHERE name = 'sealed'")
    }
    if flag == 1 { try setSealed(false, in: opened) }
  }

  /// The number of sealed responses in the directory (`SealedStore`), at most 10,000.
  ///
  /// - Parameter cipher: responses that this cipher sealed do not count.
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

  /// The number of responses in the directory that are in the clear, at most 10,000.
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
