import HTTPCacheSemantics
import HTTPCacheStore

/// Whether a row is invalidated or removed, by its own columns or by an epoch that is not applied yet.
struct RowMark {
  let isInvalidated: Bool
  /// Whether an epoch removes the row, although the row is not deleted yet.
  let isRemoved: Bool

  /// - Returns: nil if there is no row with this id.
  init?(of id: Int64, _ connection: SQLiteConnection) throws(CacheError) {
    let epochs = try Epoch.load(connection)
    var found: (isInvalidated: Bool, isRemoved: Bool)?
    try connection.query("SELECT mark, invalid, record FROM entry WHERE id = ?", [.integer(id)]) {
      (row) throws(CacheError) in
      let isMarked = row.integer(1) != 0
      guard !epochs.isEmpty else {
        found = (isMarked, false)
        return false
      }
      let record = try RecordCodec.decode(
        row.blob(2), sequence: UInt64(bitPattern: id), isInvalidated: isMarked)
      let applied = epochs.applied(to: record, mark: row.integer(0))
      found = (applied?.response.isInvalidated ?? isMarked, applied == nil)
      return false
    }
    guard let found else { return nil }
    (isInvalidated, isRemoved) = found
  }
}
