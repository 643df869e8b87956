import HTTPCacheSemantics
import HTTPCacheStore

extension DiskStore {
  /// Refuses a response if a more recent complete response with equal nominated fields was stored or freshened
  /// after the request was sent (RFC 9111 §4). Call this within the transaction that stores the response.
  ///
  /// - Parameter record: the record, invalidated if its request was overtaken (`compared(_:in:)`).
  /// - Throws: `CacheError.superseded`; an error of the index.
  static func requireNotSuperseded(
    _ record: CacheRecord, in opened: OpenDirectory, _ connection: SQLiteConnection
  ) throws(CacheError) {
    guard let ticket = record.ticket else { return }
    let seen = Int64(clamping: ticket.seen)
    let variant = RecordCodec.variant(of: record)
    let hash = opened.hashes.hash(of: record.key)
    let variantHash = opened.hashes.hash(ofVariant: variant)
    let isSuperseded = try isSuperseded(record, variant: variant, in: opened, connection, newer) {
      $0.hash(hash, 1)
      $0.hash(variantHash, 2)
      $0.integer(seen, 3)
    }
    if isSuperseded {
      throw CacheError(.superseded, "it was asked for while this one was on its way", key: record.key)
    }
  }

  /// Whether a more recent response freshened the row of a record after the request for this response was sent.
  static func isSuperseded(
    update record: CacheRecord, in opened: OpenDirectory, _ connection: SQLiteConnection
  ) throws(CacheError) -> Bool {
    guard let ticket = record.ticket else { return false }
    let (id, seen) = (Int64(bitPattern: record.sequence), Int64(clamping: ticket.seen))
    return try isSuperseded(record, variant: nil, in: opened, connection, freshened) {
      $0.integer(id, 1)
      $0.integer(seen, 2)
    }
  }

  /// - Parameter variant: the variant that rows must have, compared as `HashRow.isSameVariant` says; nil for
  ///   rows found by their id.
  private static func isSuperseded(
    _ record: CacheRecord, variant: [UInt8]?, in opened: OpenDirectory, _ connection: SQLiteConnection,
    _ statement: FrequentStatement, _ bind: (inout SQLiteBinding) -> Void
  ) throws(CacheError) -> Bool {
    var rows: [(stored: CacheRecord, mark: Int64)] = []
    try connection.query(statement, bind) { row in
      let id = UInt64(bitPattern: row.integer(0))
      // Skip a row that cannot be decoded, and a row of another variant that only shares the hash.
      if let stored = try? RecordCodec.decode(
        row.blob(3), sequence: id, isInvalidated: row.integer(2) != 0),
        stored.key == record.key, variant.map({ RecordCodec.variant(of: stored) == $0 }) ?? true
      {
        rows.append((stored, row.integer(1)))
      }
      return true
    }
    if rows.isEmpty { return false }
    let epochs = try Epoch.load(connection)
    return rows.contains { row in
      guard let stored = epochs.applied(to: row.stored, mark: row.mark) else { return false }
      return record.isOlder(than: stored, askedForAt: opened.moment(of: stored))
    }
  }

  private static let newer = FrequentStatement(
    """
    SELECT id, mark, invalid, record FROM entry
    WHERE hash = ? AND variant = ? AND partial = 0 AND mark > ?
    """)
  private static let freshened = FrequentStatement(
    "SELECT id, mark, invalid, record FROM entry WHERE id = ? AND mark > ?")
}
