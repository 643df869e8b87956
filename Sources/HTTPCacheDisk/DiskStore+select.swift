import HTTPCacheSemantics
public import HTTPCacheStore
import Synchronization

extension DiskStore {
  /// Removes what matches, some hundred entries at a time, so that others get to write in between.
  ///
  /// - Returns: the number of responses removed.
  /// - Throws: `CacheError`.
  @discardableResult
  public func remove(_ selection: CacheSelection) async throws(CacheError) -> Int {
    if case .all = selection { return try await removeAll() }
    return try await removeAll(that: selection).count
  }

  /// Removes what matches, but not everything.
  ///
  /// - Returns: the number of responses removed, and the latest change until which they had been stored.
  /// - Throws: `CacheError`.
  func removeAll(
    that selection: CacheSelection
  ) async throws(CacheError) -> (count: Int, last: Int64) {
    // What is on its way was sent before. One stored response says nothing of others, and age nothing of
    // what is new.
    let concernsOthers =
      switch selection {
      case .variant, .storedSince, .storedBefore, .unusedSince: false
      case .all, .partition, .key, .target, .prefix, .group: true
      }
    // Also if nothing is found: who removed it may have ended before it told of it.
    let tell: @Sendable (StoreParts) -> Void = { parts in
      if concernsOthers { parts.bumpInvalidations(selection) }
      parts.bumpGenerations(selection)
    }
    let last = try await lastID { tell($0) }
    var cursor: Int64 = 0
    var count = 0
    while true {
      let start = cursor
      let (removed, isIndexed) = try await onIndex { [self] (parts) throws(CacheError) in
        let clause = SelectionClause(selection, parts.hashes)
        // What was matched is gone, so an index leads straight to what is left; without one, reading
        // goes on where it stopped.
        let order = clause.isIndexed ? "" : "ORDER BY id"
        let sql = """
          SELECT \(EntryRow.columns) FROM \(clause.table)
          WHERE id > ? AND id <= ? AND \(clause.sql) \(order) LIMIT 256
          """
        let values = [.integer(start), .integer(last)] + clause.values
        let removed = try makingRoom(in: parts, sql, values) { () throws(CacheError) in
          try removeRows(in: parts, sql, values) { tell(parts) }
        }
        tell(parts)
        return (removed, clause.isIndexed)
      }
      count += removed.count
      guard removed.count == 256, let end = removed.last else { break }
      if !isIndexed { cursor = end }
    }
    return (count, last)
  }

  /// The id of the latest change, after what is batched was written.
  ///
  /// - Parameter before: done first, so that what gets a higher id comes after it.
  private func lastID(
    before: @escaping @Sendable (StoreParts) -> Void
  ) async throws(CacheError) -> Int64 {
    try await onIndex { [self] (parts) throws(CacheError) in
      // So that others find out if this process ends before it tells them.
      try? parts.becomeOwner()
      // A full disk has no room for it, and must not keep anything from being removed.
      do throws(CacheError) { try writeBatch(parts) } catch {
        guard error.code == .noSpace else { throw error }
      }
      before(parts)
      return try parts.index.readLatest { (connection) throws(CacheError) in
        try IndexState(connection).sequence
      }
    }
  }

  /// Removes the rows that a query finds, and their files.
  ///
  /// - Parameter finally: done at the end of the transaction.
  /// - Returns: their ids.
  @discardableResult
  func removeRows(
    in parts: StoreParts, _ sql: String, _ values: [SQLiteValue], finally: () -> Void = {}
  ) throws(CacheError) -> [Int64] {
    let (ids, removals) = try parts.index.write { (connection) throws(CacheError) in
      var rows: [EntryRow] = []
      try connection.query(sql, values) { row in
        rows.append(EntryRow(row))
        return true
      }
      var removals = Removals()
      for row in rows {
        try row.delete(connection)
        removals.add(row)
      }
      if !rows.isEmpty {
        var state = try IndexState(connection)
        state.subtract(removals)
        try state.save(connection)
      }
      finally()
      removals.hold(in: parts)
      return (rows.map(\.id), removals)
    }
    if !ids.isEmpty { after(removals, in: parts) }
    return ids
  }

  /// Entries that match, in the order of their ids.
  ///
  /// - Throws: `CacheError`.
  public func entries(
    _ selection: CacheSelection, after cursor: EntryCursor?, limit: Int
  ) async throws(CacheError) -> EntryPage {
    let limit = max(1, min(limit, 1_000))
    let start = cursor?.position ?? 0
    return try await onIndex { [self] (parts) throws(CacheError) in
      try writeBatch(parts)
      try parts.index.listNew()
      let clause = SelectionClause(selection, parts.hashes)
      var entries: [CacheEntry] = []
      var last: Int64 = 0
      var count = 0
      var isMore = false
      try parts.index.readLatest { (connection) throws(CacheError) in
        let epochs = try Epoch.load(connection)
        try connection.query(
          """
          SELECT id, mark, invalid, size, touched, file, record, partial FROM \(clause.table)
          WHERE id > ? AND \(clause.sql) ORDER BY id LIMIT \(limit + 1)
          """, [.integer(start)] + clause.values
        ) { row in
          guard count < limit else {
            isMore = true
            return false
          }
          count += 1
          last = row.integer(0)
          // A damaged record is found and removed when it is read.
          guard let record = try? StoredRow.record(row, epochs: epochs, columns: StoredRow.keyColumns)
          else { return true }
          entries.append(
            CacheEntry(
              record: record, size: EntryRow.bounded(row.integer(3)),
              lastUsed: Timestamp(seconds: row.integer(4)),
              bodyPath: Self.bodyPath(row, in: parts)))
          return true
        }
      }
      return EntryPage(entries: entries, next: isMore ? EntryCursor(position: last) : nil)
    }
  }

  private static func bodyPath(_ row: SQLiteRow, in parts: StoreParts) -> String? {
    // The file of a part has holes.
    guard row.integer(7) == 0, let name = row.text(5).flatMap({ BodyName(path: $0) }) else {
      return nil
    }
    return parts.directory.bodyPath(name)
  }

  /// Changes the capacity and evicts down to it; the files shrink before it returns. In other processes
  /// the lowest capacity holds of those that write into the directory.
  ///
  /// - Throws: `CacheError`.
  public func setCapacity(memory: Int64?, disk: Int64?) async throws(CacheError) {
    guard let disk else { return }
    changeCapacity(disk)
    var isDone = false
    while !isDone {
      isDone = try await onIndex { [self] (parts) throws(CacheError) in
        parts.joinRoom(capacity: currentLimits.capacity)
        parts.room.setCapacity(currentLimits.capacity)
        setLogLength(of: parts)
        noteCapacity(in: parts)
        try writeBatch(parts)
        guard try trimSome(parts) else { return false }
        try parts.index.withWriter { (connection) throws(CacheError) in
          try connection.truncateLog(waiting: true)
        }
        // The log counted, and it is empty now.
        return try trimSome(parts)
      }
    }
  }
}
