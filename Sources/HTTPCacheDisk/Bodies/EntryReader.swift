import HTTPCacheFiles
import HTTPCacheSemantics
import HTTPCacheStore
import Synchronization

/// Reads entries and their bodies, and has damaged entries removed.
final class EntryReader: Sendable {
  /// Threads that read and write body files.
  let fileQueue = WorkQueue(threads: 3)
  let checkedBodies: CheckedBodies
  private let thread: IndexThread
  private let batch: ChangeBatch
  private let policy: DiskEvictionPolicy
  private let changer: Changer
  private let recentRecords: RecentRecords
  private let verification: Verification
  private let clock: any CacheClock

  init(
    thread: IndexThread, batch: ChangeBatch, policy: DiskEvictionPolicy, changer: Changer,
    recentRecords: RecentRecords, verification: Verification, clock: any CacheClock
  ) {
    self.thread = thread
    self.batch = batch
    self.policy = policy
    self.changer = changer
    self.recentRecords = recentRecords
    self.verification = verification
    self.clock = clock
    checkedBodies = CheckedBodies(clock: clock)
  }

  /// The stored variants of a key, newest first. Counts a use.
  func read(_ key: CacheKey) throws(CacheError) -> [StoredVariant] {
    let opened = try thread.directoryToRead()
    let hash = opened.hashes.hash(of: key)
    policy.recordUses(CollectionOfOne((hash, 1)))
    let variants = try variants(of: key, hash: hash, in: opened)
    if !variants.isEmpty { batch.touch(CollectionOfOne((hash, clock.now.seconds))) }
    return variants
  }

  /// The stored variants of a key, newest first.
  func variants(of key: CacheKey) throws(CacheError) -> [StoredVariant] {
    let opened = try thread.directoryToRead()
    return try variants(of: key, hash: opened.hashes.hash(of: key), in: opened)
  }

  /// Counts uses of keys that were answered without this store.
  func recordUses(_ uses: [KeyUses]) {
    let places = uses.map { thread.place(of: $0.key) }
    policy.recordUses(zip(places, uses).lazy.map { ($0.hash, $1.count) })
    let stored = zip(places, uses).filter { !$0.0.isKnownAbsent }
    if !stored.isEmpty { batch.touch(stored.lazy.map { ($0.hash, $1.last.seconds) }) }
  }

  private func variants(
    of key: CacheKey, hash: UInt64, in opened: OpenDirectory
  ) throws(CacheError) -> [StoredVariant] {
    if let filter = opened.keyGenerations.filter, try !mayContain(hash, filter, in: opened) {
      try opened.index.requireOpen()
      return []
    }
    let context = context(opened)
    // Read the damaged ids before the rows: an entry may be removed from both while the rows are read.
    let damaged = opened.damaged.withLock { $0 }
    let found = try thread.read(opened) { (connection) throws(CacheError) in
      try connection.entries(StoredEntry.ofHashWithBodies, [.hash(hash)], recent: recentRecords)
    }
    if found.hasEpochs { changer.didReadEpochs() }
    var variants: [StoredVariant] = []
    for entry in found.entries where !damaged.contains(entry.row.id) {
      do throws(CacheError) {
        if case .damaged(let error) = entry.content { throw error }
        // Skip a removed entry, and an entry of another key with the same hash.
        guard let record = entry.record, record.key == key else { continue }
        variants.append(StoredVariant(record: record, body: try body(of: entry, record, in: context)))
      } catch {
        context.onDamage(entry.row.id, error)
      }
    }
    // Sort here: SQLite would copy each row into a temporary table first, and there is nearly always one row only.
    if variants.count > 1 { variants.sort { $0.record.sequence > $1.record.sequence } }
    return variants
  }

  /// Whether the index may have rows of a hash. Reads the hashes of its class, if they are not known.
  private func mayContain(
    _ hash: UInt64, _ filter: KeyFilter, in opened: OpenDirectory
  ) throws(CacheError) -> Bool {
    if let isKnown = filter.mayContain(hash) { return isKnown }
    try filter.learn(classOf: hash) { (first, most) throws(CacheError) in
      try thread.read(opened) { (connection) throws(CacheError) in
        try connection.hashes(from: first, most: most)
      }
    }
    return filter.mayContain(hash) ?? true
  }

  private func body(
    of entry: StoredEntry, _ record: CacheRecord, in context: StoredFileBody.Context
  ) throws(CacheError) -> any StoredBody {
    let row = entry.row
    let length = record.isComplete ? record.bodyLength : StoredRanges.count(record.storedRanges ?? [])
    guard record.isComplete != row.isPartial, length == row.length else {
      throw CacheError(.damaged, "record and index differ in what is stored of the body")
    }
    if row.hasFile {
      guard let name = row.file else { throw CacheError(.damaged, "index: no name of a body") }
      return StoredFileBody(row, name: name, record: record, context: context)
    }
    guard record.isComplete, Int64(entry.body.count) == length else {
      throw CacheError(.damaged, "the body in the index is not what was written")
    }
    let onDamage = context.onDamage
    return StoredInlineBody(
      bytes: entry.body, record: record, checksum: row.checksum, onDamage: { onDamage(row.id, $0) })
  }

  /// The objects that the bodies of a directory use.
  func context(_ opened: OpenDirectory) -> StoredFileBody.Context {
    StoredFileBody.Context(
      opened: opened, queue: fileQueue, verification: verification, checkedBodies: checkedBodies
    ) { [weak thread] id, error in
      // A failed read of the index is no damage of the entry.
      if error.cause is IndexDamage { thread?.noteDamage(error, of: opened); return }
      thread?.removeDamaged(id, in: opened)
    }
  }

  /// The matching entries, in the order of their ids; on the index thread.
  func entries(
    _ selection: CacheSelection, after cursor: EntryCursor?, limit: Int, in opened: OpenDirectory
  ) throws(CacheError) -> EntryPage {
    let clause = SelectionClause(selection, opened.hashes)
    let sql = StoredEntry.query(
      "id > ? AND \(clause.sql) ORDER BY id LIMIT \(limit + 1)", from: clause.table)
    let found = try opened.index.withWriter { (connection) throws(CacheError) in
      try connection.entries(sql, [.integer(cursor?.position ?? 0)] + clause.values).entries
    }
    // A damaged record is left out. The next read of its key removes it.
    let entries = found.prefix(limit).compactMap { entry in
      entry.record.map { record in
        CacheEntry(
          record: record, size: entry.row.size, lastUsed: Timestamp(seconds: entry.row.touched),
          // The file of a partial body has holes.
          bodyPath: entry.row.isPartial ? nil : entry.row.file.map { opened.directory.bodyPath($0) })
      }
    }
    let next = found.count > limit ? EntryCursor(position: found[limit - 1].row.id) : nil
    return EntryPage(entries: entries, next: next)
  }
}
