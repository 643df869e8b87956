import HTTPCacheFiles
public import HTTPCacheSemantics
public import HTTPCacheStore
import Synchronization

extension DiskStore {
  /// Always unknown: this store keeps no entries in memory.
  public func peek(_ key: CacheKey) -> PeekResult { .unknown }

  /// Reads the stored variants of a key on the calling thread, in some microseconds.
  ///
  /// - Throws: `CacheError`.
  public func read(_ key: CacheKey) throws(CacheError) -> [StoredVariant] {
    let opened = try directoryToRead()
    let hash = opened.hashes.hash(of: key)
    policy.recordUses(CollectionOfOne((hash, 1)))
    let variants = try variants(of: key, hash, in: opened)
    if !variants.isEmpty {
      let now = clock.now.seconds
      addToBatch { $0.touches[hash] = now }
    }
    return variants
  }

  /// Reads the stored variants as `read(_:)` does, without counting a use.
  ///
  /// - Throws: `CacheError`.
  public func variants(of key: CacheKey) throws(CacheError) -> [StoredVariant] {
    let opened = try directoryToRead()
    return try variants(of: key, opened.hashes.hash(of: key), in: opened)
  }

  private func variants(
    of key: CacheKey, _ hash: UInt64, in opened: OpenDirectory
  ) throws(CacheError) -> [StoredVariant] {
    let context = bodyContext(opened)
    // Read the damaged ids before the rows: an entry may be removed from both while the rows are read.
    let damaged = opened.damaged.withLock { $0 }
    let found = try reading(opened) { (connection) throws(CacheError) in
      try StoredEntry.find(
        StoredEntry.ofHashWithBodies, [.hash(hash)], connection, recent: recentRecords)
    }
    if found.hasEpochs { didReadEpochs() }
    var variants: [StoredVariant] = []
    for entry in found.entries where !damaged.contains(entry.row.id) {
      do throws(CacheError) {
        if case .damaged(let error) = entry.content { throw error }
        // Skip a removed entry, and an entry of another key with the same hash.
        guard let record = entry.record, record.key == key else { continue }
        variants.append(StoredVariant(record: record, body: try body(of: entry, record, context)))
      } catch {
        context.onDamage(entry.row.id, error)
      }
    }
    // Sort here: SQLite would copy each row into a temporary table first, and there is nearly always one row only.
    if variants.count > 1 { variants.sort { $0.record.sequence > $1.record.sequence } }
    return variants
  }

  /// Counts uses of keys that were answered from the memory of a store above. The next batch writes them.
  package func recordUses(_ uses: [KeyUses]) {
    let hashes = currentDirectory.hashes
    let hashed = uses.map { (hash: hashes.hash(of: $0.key), count: $0.count, last: $0.last.seconds) }
    policy.recordUses(hashed.lazy.map { ($0.hash, $0.count) })
    addToBatch { batch in
      for uses in hashed { batch.touches[uses.hash] = max(batch.touches[uses.hash] ?? 0, uses.last) }
    }
  }

  private func body(
    of entry: StoredEntry, _ record: CacheRecord, _ context: StoredFileBody.Context
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

  func bodyContext(_ opened: OpenDirectory) -> StoredFileBody.Context {
    StoredFileBody.Context(
      opened: opened, queue: fileQueue, verification: options.verification, checkedBodies: checkedBodies
    ) { [weak self] id, error in
      // A failed read of the index is no damage of the entry.
      if error.cause is IndexDamage { self?.noteDamage(error, of: opened); return }
      self?.removeDamaged(id, in: opened)
    }
  }

  /// Removes a damaged entry. The entry counts as a miss from now on.
  private func removeDamaged(_ id: Int64, in opened: OpenDirectory) {
    opened.damaged.withLock { _ = $0.insert(id) }
    indexQueue.submit { [weak self] in
      // If the entry cannot be removed, the next reader reports it again.
      defer { opened.damaged.withLock { _ = $0.remove(id) } }
      guard let self, opened === currentDirectory else { return }
      _ = try? removeRows(in: opened, "id = ?", [.integer(id)])
    }
  }
}
