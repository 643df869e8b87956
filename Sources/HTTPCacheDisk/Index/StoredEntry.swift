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
  static let ofHash = query("hash = ? LIMIT \(mostOfHash)")
  static let ofID = query("id = ?")

  private static let selection = EntrySelection(EntryRow.columns + [.record])

  /// A query for `find`.
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

  /// Reads entries.
  ///
  /// - Parameters:
  ///   - sql: made by `query`.
  ///   - recent: recently decoded records to use.
  static func find(
    _ sql: String, _ values: [SQLiteValue], _ connection: SQLiteConnection, recent: RecentRecords? = nil
  ) throws(CacheError) -> Found {
    let found = try read(sql, values, connection, recent, epochs: [])
    guard found.hasEpochs else { return found }
    // Read epochs before the rows: an epoch that is applied in between has then changed its rows already.
    let epochs = try Epoch.load(connection)
    var applied = try read(sql, values, connection, recent, epochs: epochs)
    applied.hasEpochs = true
    return applied
  }

  /// The partial body of a record; nil if it is not stored.
  static func part(of record: CacheRecord, _ connection: SQLiteConnection) throws(CacheError) -> StoredEntry?
  {
    try find(ofID, [.integer(Int64(bitPattern: record.sequence))], connection).entries.first {
      $0.row.isPartial && $0.record?.key == record.key
    }
  }

  private static func read(
    _ sql: String, _ values: [SQLiteValue], _ connection: SQLiteConnection, _ recent: RecentRecords?,
    epochs: [Epoch]
  ) throws(CacheError) -> Found {
    var found = Found()
    try connection.query(sql, values) { row in
      found.hasEpochs = row.integer(selection.count + 1) != 0
      let entry = EntryRow(row)
      found.entries.append(
        StoredEntry(
          row: entry, content: content(row.blob(selection[.record]), of: entry, recent, epochs),
          body: copy(row.blob(selection.count))))
      return true
    }
    return found
  }

  private static func content(
    _ bytes: UnsafeRawBufferPointer, of row: EntryRow, _ recent: RecentRecords?, _ epochs: [Epoch]
  ) -> Content {
    do throws(CacheError) {
      let circumstances = RecentRecords.Circumstances(
        sequence: UInt64(bitPattern: row.id), isInvalidated: row.isInvalidated)
      let record =
        if let recent { try recent.record(bytes, circumstances) } else {
          try RecentRecords.decode(bytes, circumstances)
        }
      return epochs.applied(to: record, mark: row.mark).map { .record($0) } ?? .removed
    } catch {
      return .damaged(error)
    }
  }

  private static func copy(_ blob: UnsafeRawBufferPointer) -> BodyBytes {
    if blob.isEmpty { return BodyBytes() }
    return BodyBytes(unsafeUninitializedCapacity: blob.count) { buffer in
      buffer.copyMemory(from: blob)
      return blob.count
    }
  }
}
