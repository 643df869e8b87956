import HTTPCacheSemantics
import HTTPCacheStore

/// A row with its record, as the epochs leave it that are not applied to the row yet.
struct StoredEntry: Sendable {
  enum Content: Sendable {
    case record(CacheRecord)
    /// An epoch removes the row.
    case removed
    case damaged(CacheError)
  }

  let row: EntryRow
  let content: Content
  /// The inline body, if the query asks for bodies.
  let body: BodyBytes

  /// The record; nil if the entry is removed or damaged.
  var record: CacheRecord? {
    if case .record(let record) = content { return record }
    return nil
  }

  /// Whether the entry is of a key. True for a damaged record, so that its row is replaced.
  func isOf(_ key: CacheKey) -> Bool {
    if case .damaged = content { return true }
    return record?.key == key
  }

  /// Whether the nominated fields are equal, not only their hashes. True for a damaged record.
  func isOf(variant: [UInt8]) -> Bool { record.map { RecordCodec.variant(of: $0) == variant } ?? true }

  /// The maximum number of rows of one hash that are read.
  static let mostOfHash = 256

  /// The query for the rows of a hash, with their inline bodies.
  static let ofHashWithBodies = query("hash = ? LIMIT \(mostOfHash)", withBodies: true)
  /// The query for the rows of a hash.
  fileprivate static let ofHash = query("hash = ? LIMIT \(mostOfHash)")
  fileprivate static let ofID = query("id = ?")

  fileprivate static let selection = EntrySelection(EntryRow.columns + [.record])

  /// A query for `SQLiteConnection.entries`.
  static func query(_ condition: String, from table: String = "entry", withBodies: Bool = false) -> String {
    """
    SELECT \(selection.sql), \(withBodies ? "body" : "NULL"), EXISTS (SELECT 1 FROM epoch)
    FROM \(table) WHERE \(condition)
    """
  }

  struct Found: Sendable {
    var entries: [StoredEntry] = []
    /// Whether the index has epochs.
    var hasEpochs = false
  }

  /// Makes entries of rows.
  fileprivate struct Decoder {
    let recent: RecentRecords?
    let epochs: [Epoch]

    func entry(_ row: SQLiteRow) -> StoredEntry {
      let entry = EntryRow(row)
      return StoredEntry(
        row: entry, content: content(row.blob(StoredEntry.selection[.record]), of: entry),
        body: copy(row.blob(StoredEntry.selection.count)))
    }

    private func content(_ bytes: UnsafeRawBufferPointer, of row: EntryRow) -> Content {
      do throws(CacheError) {
        let circumstances = RecentRecords.Circumstances(
          sequence: UInt64(bitPattern: row.id), isInvalidated: row.isInvalidated,
          isExpired: row.isExpired)
        let record =
          if let recent { try recent.record(bytes, circumstances) } else {
            try RecentRecords.decode(bytes, circumstances)
          }
        return epochs.applied(to: record, mark: row.mark).map { .record($0) } ?? .removed
      } catch {
        return .damaged(error)
      }
    }

    private func copy(_ blob: UnsafeRawBufferPointer) -> BodyBytes {
      if blob.isEmpty { return BodyBytes() }
      return BodyBytes(unsafeUninitializedCapacity: blob.count) { buffer in
        buffer.copyMemory(from: blob)
        return blob.count
      }
    }
  }
}

extension SQLiteConnection {
  /// Reads entries.
  ///
  /// - Parameters:
  ///   - sql: made by `StoredEntry.query`.
  ///   - recent: recently decoded records to use.
  func entries(
    _ sql: String, _ values: [SQLiteValue], recent: RecentRecords? = nil
  ) throws(CacheError) -> StoredEntry.Found {
    let found = try read(sql, values, using: StoredEntry.Decoder(recent: recent, epochs: []))
    guard found.hasEpochs else { return found }
    // Read epochs before the rows: an epoch that is applied in between has then changed its rows already.
    let epochs = try Epoch.load(self)
    var applied = try read(sql, values, using: StoredEntry.Decoder(recent: recent, epochs: epochs))
    applied.hasEpochs = true
    return applied
  }

  /// The entries with a hash of a key.
  func entries(ofHash hash: UInt64) throws(CacheError) -> [StoredEntry] {
    try entries(StoredEntry.ofHash, [.hash(hash)]).entries
  }

  /// The key hashes of the rows from a signed number on, in the order of signed numbers; at most so many.
  func hashes(from first: Int64, most: Int) throws(CacheError) -> [UInt64] {
    var hashes: [UInt64] = []
    try query(
      "SELECT hash FROM entry WHERE hash >= ? ORDER BY hash LIMIT ?",
      [.integer(first), .integer(Int64(most))]
    ) { row in
      hashes.append(UInt64(bitPattern: row.integer(0)))
      return true
    }
    return hashes
  }

  func entry(_ id: Int64) throws(CacheError) -> StoredEntry? {
    try entries(StoredEntry.ofID, [.integer(id)]).entries.first
  }

  private func read(
    _ sql: String, _ values: [SQLiteValue], using decoder: StoredEntry.Decoder
  ) throws(CacheError) -> StoredEntry.Found {
    var found = StoredEntry.Found()
    try query(sql, values) { row in
      found.hasEpochs = row.integer(StoredEntry.selection.count + 1) != 0
      found.entries.append(decoder.entry(row))
      return true
    }
    return found
  }
}
