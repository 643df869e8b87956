import HTTPCacheSemantics
import HTTPCacheStore

/// A row that has the hash of a key: a row of this key, or of another key with the same hash.
struct HashRow: Sendable {
  /// The most rows of a hash that a look-up reads.
  static let mostOfHash = 256
  /// The most rows of other keys that stay when a key with their hash is stored. There are normally none: the
  /// hash is keyed with the secret of the directory.
  static let mostOfOtherKeys = 8
  /// The most variants of a key.
  static let mostVariants = mostOfHash - mostOfOtherKeys

  let row: EntryRow
  let isSameKey: Bool
  /// Whether key and nominated fields are equal, not only their hashes.
  let isSameVariant: Bool

  /// All rows with this key's hash, newest first. `isSameKey` is false for a hash collision.
  static func find(
    _ entry: NewEntry, _ hashes: RowHashes, _ connection: SQLiteConnection
  ) throws(CacheError) -> [HashRow] {
    let key = entry.record.key
    let variant = RecordCodec.variant(of: entry.record)
    var rows: [HashRow] = []
    try connection.query(
      statement,
      {
        $0.hash(hashes.hash(ofVariant: variant), 1)
        $0.hash(hashes.hash(of: key), 2)
      }
    ) { row in
      let place = EntryRow.selection.count
      let isSameKey =
        row.text(place) == key.target && row.text(place + 1) == key.partition
        && row.integer(place + 2) == Int64(key.mode.rawValue)
        && row.integer(place + 3) == Int64(key.methodClass.rawValue)
        && row.blob(place + 4).elementsEqual(key.contentDigest)
      rows.append(
        HashRow(
          row: EntryRow(row), isSameKey: isSameKey,
          isSameVariant: isSameKey && !row.isNull(place + 5) && isVariant(row.blob(place + 5), variant)))
      return true
    }
    return rows.sorted { $0.row.id > $1.row.id }
  }

  private static let statement = FrequentStatement(
    """
    SELECT \(EntryRow.columns), target, partition, mode, method, digest,
    CASE WHEN variant = ?1 THEN record END FROM entry WHERE hash = ?2
    """)

  /// The rows that a new record of the same variant replaces.
  ///
  /// - Parameters:
  ///   - isPartial: true for rows of partial bodies, false for rows of whole bodies.
  ///   - id: a row to leave out.
  static func twins(
    of record: CacheRecord, isPartial: Bool, except id: Int64 = 0, _ hashes: RowHashes,
    _ connection: SQLiteConnection
  ) throws(CacheError) -> [EntryRow] {
    let variant = RecordCodec.variant(of: record)
    var rows: [EntryRow] = []
    try connection.query(
      """
      SELECT \(EntryRow.columns), record FROM entry
      WHERE hash = ? AND variant = ? AND partial = ? AND id <> ?
      """,
      [
        .hash(hashes.hash(of: record.key)), .hash(hashes.hash(ofVariant: variant)),
        .integer(isPartial ? 1 : 0), .integer(id),
      ]
    ) { row in
      if isVariant(row.blob(EntryRow.selection.count), variant) { rows.append(EntryRow(row)) }
      return true
    }
    return rows
  }

  /// Whether a record of the index is of a variant. True for a damaged record, so that its row is replaced.
  private static func isVariant(_ record: UnsafeRawBufferPointer, _ variant: [UInt8]) -> Bool {
    guard let record = try? RecordCodec.decode(record) else { return true }
    return RecordCodec.variant(of: record) == variant
  }
}

extension Sequence<HashRow> {
  /// The oldest rows of other keys, beyond the number that stays.
  var surplus: [EntryRow] {
    filter { !$0.isSameKey }.dropFirst(HashRow.mostOfOtherKeys).map(\.row)
  }
}
