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
    policy.withLock { $0.recordUse(hash: hash) }
    let variants = try variants(of: key, hash, in: opened)
    if !variants.isEmpty { touch(hash) }
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
    let recent = recentRecords
    let found = try reading(opened) { (connection) throws(CacheError) in
      try Self.variants(of: key, hash, connection, recent, context: context)
    }
    if found.hasEpochs { didReadEpochs() }
    for (id, error) in found.damaged { context.onDamage(id, error) }
    return found.variants
  }

  /// Counts a use of a key that was answered from the memory of a store above. The next batch writes the use.
  public func recordUse(of key: CacheKey) {
    let hash = currentDirectory.hashes.hash(of: key)
    policy.withLock { $0.recordUse(hash: hash) }
    touch(hash)
  }

  private struct Found: Sendable {
    var hasEpochs = false
    var variants: [StoredVariant] = []
    var damaged: [(Int64, CacheError)] = []
  }

  private static func variants(
    of key: CacheKey, _ hash: UInt64, _ connection: SQLiteConnection, _ recent: RecentRecords,
    context: StoredFileBody.Context
  ) throws(CacheError) -> Found {
    let found = try variants(of: key, hash, epochs: [], connection, recent, context: context)
    guard found.hasEpochs else { return found }
    // Read epochs before the rows: an epoch that is applied in between has then changed its rows already.
    let epochs = try Epoch.load(connection)
    return try variants(of: key, hash, epochs: epochs, connection, recent, context: context)
  }

  private static func variants(
    of key: CacheKey, _ hash: UInt64, epochs: [Epoch], _ connection: SQLiteConnection,
    _ recent: RecentRecords, context: StoredFileBody.Context
  ) throws(CacheError) -> Found {
    var found = Found()
    // Read the damaged ids before the rows: an entry may be removed from both while the rows are read.
    let damaged = context.opened.damaged.all
    try connection.query(ofHash, { $0.hash(hash, 1) }) { row in
      if row.integer(StoredRow.selection.count) != 0 { found.hasEpochs = true }
      let id = row.integer(StoredRow.selection[.id])
      if !damaged.isEmpty, damaged.contains(id) { return true }
      do throws(CacheError) {
        let record = try StoredRow.record(
          row, StoredRow.selection, epochs: epochs, recent: recent)
        // Skip a removed row, and a row of another key with the same hash.
        guard let record, record.key == key else { return true }
        found.variants.append(
          StoredVariant(record: record, body: try body(row, record: record, context: context)))
      } catch {
        found.damaged.append((id, error))
      }
      return true
    }
    // Sort here: SQLite would copy each row into a temporary table first, and there is nearly always one row only.
    if found.variants.count > 1 {
      found.variants.sort { $0.record.sequence > $1.record.sequence }
    }
    return found
  }

  private static let ofHash = FrequentStatement(
    """
    SELECT \(StoredRow.selection.sql), EXISTS (SELECT 1 FROM epoch) FROM entry WHERE hash = ? LIMIT \(HashRow.mostOfHash)
    """)

  private static func body(
    _ row: SQLiteRow, record: CacheRecord, context: StoredFileBody.Context
  ) throws(CacheError) -> any StoredBody {
    let places = StoredRow.selection
    let (id, length) = (row.integer(places[.id]), row.integer(places[.length]))
    guard length >= 0 else { throw CacheError(.damaged, "index: a negative length") }
    guard record.isComplete == (row.integer(places[.partial]) == 0),
      length == (record.isComplete ? record.bodyLength : StoredRanges.count(record.storedRanges ?? []))
    else { throw CacheError(.damaged, "record and index differ in what is stored of the body") }
    if let path = row.text(places[.file]) {
      guard let name = BodyName(path: path) else {
        throw CacheError(.damaged, "index: no name of a body")
      }
      return StoredFileBody(
        id: id, name: name, record: record, storedLength: length, checksum: row.hash(places[.checksum]),
        context: context)
    }
    let (bytes, onDamage) = (row.blob(places[.body]), context.onDamage)
    guard record.isComplete, Int64(bytes.count) == length else {
      throw CacheError(.damaged, "the body in the index is not what was written")
    }
    return StoredInlineBody(
      bytes: copy(bytes), checksum: row.hash(places[.checksum]), queue: context.queue,
      onDamage: { onDamage(id, $0) })
  }

  private static func copy(_ blob: UnsafeRawBufferPointer) -> BodyBytes {
    BodyBytes(unsafeUninitializedCapacity: blob.count) { buffer in
      buffer.copyMemory(from: blob)
      return blob.count
    }
  }

  func bodyContext(_ opened: OpenDirectory) -> StoredFileBody.Context {
    StoredFileBody.Context(
      opened: opened, queue: fileQueue, verification: verification, checkedBodies: checkedBodies
    ) { [weak self] id, error in
      // A failed read of the index is no damage of the entry.
      if error.cause is IndexDamage { self?.noteDamage(error, of: opened); return }
      self?.removeDamaged(id, in: opened)
    }
  }

  /// Removes a damaged entry. The entry counts as a miss from now on.
  private func removeDamaged(_ id: Int64, in opened: OpenDirectory) {
    opened.damaged.insert(id)
    indexQueue.submit { [weak self] in
      // If the entry cannot be removed, the next reader reports it again.
      defer { opened.damaged.remove(id) }
      guard let self, opened === currentDirectory else { return }
      _ = try? removeRows(
        in: opened, "SELECT \(EntryRow.columns) FROM entry WHERE id = ?", [.integer(id)])
    }
  }

  private func touch(_ hash: UInt64) {
    let now = clock.now.seconds
    let isTime = batch.withLock { batch in
      batch.touches[hash] = now
      return batch.shouldSchedule()
    }
    if isTime { scheduleBatch() }
  }
}

/// Makes a record from a row.
enum StoredRow {
  /// The columns that a look-up reads.
  static let selection = EntrySelection([
    .id, .mark, .invalid, .length, .file, .checksum, .record, .body, .partial,
  ])

  /// - Parameter places: columns that include id, mark, invalid and record.
  /// - Returns: nil if an epoch removes the row.
  static func record(
    _ row: SQLiteRow, _ places: EntrySelection, epochs: [Epoch], recent: RecentRecords? = nil
  ) throws(CacheError) -> CacheRecord? {
    let bytes = row.blob(places[.record])
    let circumstances = RecentRecords.Circumstances(
      sequence: UInt64(bitPattern: row.integer(places[.id])),
      isInvalidated: row.integer(places[.invalid]) != 0)
    let record =
      if let recent {
        try recent.record(bytes, circumstances) { () throws(CacheError) in
          try decode(bytes, circumstances)
        }
      } else { try decode(bytes, circumstances) }
    return epochs.isEmpty ? record : epochs.applied(to: record, mark: row.integer(places[.mark]))
  }

  private static func decode(
    _ bytes: UnsafeRawBufferPointer, _ circumstances: RecentRecords.Circumstances
  ) throws(CacheError) -> CacheRecord {
    try RecordCodec.decode(
      bytes, sequence: circumstances.sequence, isInvalidated: circumstances.isInvalidated)
  }
}
