import HTTPCacheFiles
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
      let sql = StoredEntry.query(
        "id > ? AND \(clause.sql) ORDER BY id LIMIT \(limit + 1)", from: clause.table)
      let found = try opened.index.withWriter { (connection) throws(CacheError) in
        try StoredEntry.find(sql, [.integer(start)] + clause.values, connection).entries
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
}
