import HTTPCacheSemantics
public import HTTPCacheStore
import Synchronization

extension DiskStore {
  /// The matching entries, in the order of their ids.
  ///
  /// - Throws: `CacheError`.
  public func entries(
    _ selection: CacheSelection, after cursor: EntryCursor?, limit: Int
  ) async throws(CacheError) -> EntryPage {
    let limit = max(1, min(limit, 1_000))
    let start = cursor?.position ?? 0
    return try await onIndex { [self] (opened) throws(CacheError) in
      try writeBatch(opened)
      let clause = SelectionClause(selection, opened.hashes)
      var entries: [CacheEntry] = []
      var last: Int64 = 0
      var count = 0
      var isMore = false
      try opened.index.withWriter { (connection) throws(CacheError) in
        let epochs = try Epoch.load(connection)
        try connection.query(
          """
          SELECT \(Self.listed.sql) FROM \(clause.table)
          WHERE id > ? AND \(clause.sql) ORDER BY id LIMIT \(limit + 1)
          """, [.integer(start)] + clause.values
        ) { row in
          guard count < limit else {
            isMore = true
            return false
          }
          count += 1
          last = row.integer(Self.listed[.id])
          // Skip a damaged record. The next read of its key removes it.
          guard
            let record = (try? StoredRow.record(row, Self.listed, epochs: epochs)) ?? nil
          else { return true }
          entries.append(
            CacheEntry(
              record: record, size: EntryRow.bounded(row.integer(Self.listed[.size])),
              lastUsed: Timestamp(seconds: row.integer(Self.listed[.touched])),
              bodyPath: Self.bodyPath(row, in: opened)))
          return true
        }
      }
      return EntryPage(entries: entries, next: isMore ? EntryCursor(position: last) : nil)
    }
  }

  private static let listed = EntrySelection([
    .id, .mark, .invalid, .size, .touched, .file, .record, .partial,
  ])

  private static func bodyPath(_ row: SQLiteRow, in opened: OpenDirectory) -> String? {
    // The file of a partial body has holes.
    guard row.integer(listed[.partial]) == 0,
      let name = row.text(listed[.file]).flatMap({ BodyName(path: $0) })
    else {
      return nil
    }
    return opened.directory.bodyPath(name)
  }
}
