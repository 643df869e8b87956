import HTTPCacheSemantics
public import HTTPCacheStore
import Synchronization

extension DiskStore {
  /// Removes the matching entries. Up to 256 entries are removed in one transaction. For more entries, one
  /// transaction writes an epoch, and reads no longer find the entries. Then some hundred rows at a time are
  /// deleted, so that other processes can write in between. If the process ends before that is done, the next
  /// process that opens the directory continues.
  ///
  /// - Returns: the number of responses removed.
  /// - Throws: `CacheError`.
  @discardableResult
  public func remove(_ selection: CacheSelection) async throws(CacheError) -> Int {
    if case .all = selection { return try await removeAll() }
    return try await removeAll(that: selection).count
  }

  /// Removes the matching entries of a selection other than `.all`.
  ///
  /// - Returns: the number of responses removed, and the number of the last change before the removal.
  /// - Throws: `CacheError`.
  func removeAll(
    that selection: CacheSelection
  ) async throws(CacheError) -> (count: Int, last: Int64) {
    // Raise the counters even if no entry matches: a process that removed the entries may have ended before
    // it raised them.
    let tell: @Sendable (OpenDirectory) -> Void = { opened in
      opened.noteInvalidation(selection)
      opened.bumpGenerations(selection)
    }
    let beginning = try await onIndex { [self] (opened) throws(CacheError) in
      try beginRemoval(of: selection, in: opened, tell)
    }
    if let (epoch, count) = beginning.epoch {
      try await reclaim(epoch)
      return (count, epoch.sequence)
    }
    let count = try await removeInBatches(selection, upTo: beginning.last, tell)
    return (count, beginning.last)
  }

  private struct RemovalBeginning: Sendable {
    /// The epoch that was written, and the number of entries it covers; nil if no epoch was written.
    var epoch: (Epoch, count: Int)?
    /// The number of the last change before the removal.
    var last: Int64
  }

  private func beginRemoval(
    of selection: CacheSelection, in opened: OpenDirectory, _ tell: (OpenDirectory) -> Void
  ) throws(CacheError) -> RemovalBeginning {
    // If this process ends before it raises the counters, other processes find its free owner lock.
    try? opened.becomeOwner()
    // A full disk has no space for the batch. That must not prevent the removal.
    do throws(CacheError) { try writeBatch(opened) } catch {
      guard error.code == .noSpace else { throw error }
    }
    tell(opened)
    let clause = SelectionClause(selection, opened.hashes)
    do throws(CacheError) {
      let epoch = try opened.index.write { (connection) throws(CacheError) -> Epoch? in
        guard try Self.ids(clause, limit: Self.markLimit + 1, connection).count > Self.markLimit
        else { return nil }
        var state = try IndexState(connection)
        guard let epoch = Epoch(selection, removes: true, sequence: state.nextSequence()) else {
          return nil
        }
        try epoch.save(connection)
        try state.save(connection)
        tell(opened)
        return epoch
      }
      if let epoch {
        tell(opened)
        recentRecords.removeAll()
        let count = try opened.index.withWriter { (connection) throws(CacheError) in
          try connection.number(
            "SELECT count(*) FROM \(clause.table) WHERE \(clause.sql) AND mark < ?",
            clause.values + [.integer(epoch.sequence)])
        }
        return RemovalBeginning(epoch: (epoch, Int(clamping: count ?? 0)), last: epoch.sequence)
      }
    } catch {
      // If there is no space for an epoch, remove the rows directly: removing frees space.
      guard error.code == .noSpace else { throw error }
    }
    let last = try opened.index.withWriter { (connection) throws(CacheError) in
      try IndexState(connection).sequence
    }
    return RemovalBeginning(last: last)
  }

  private func removeInBatches(
    _ selection: CacheSelection, upTo last: Int64, _ tell: @escaping @Sendable (OpenDirectory) -> Void
  ) async throws(CacheError) -> Int {
    var cursor: Int64 = 0
    var count = 0
    while true {
      let start = cursor
      let (removed, isIndexed) = try await onIndex { [self] (opened) throws(CacheError) in
        let clause = SelectionClause(selection, opened.hashes)
        // Matched rows are removed, so an index of SQLite leads straight to the remaining rows. Without such
        // an index, reading continues after the last id.
        let order = clause.isIndexed ? "" : "ORDER BY id"
        let sql = """
          SELECT \(EntryRow.columns) FROM \(clause.table)
          WHERE id > ? AND id <= ? AND \(clause.sql) \(order) LIMIT \(Self.markLimit)
          """
        let values = [.integer(start), .integer(last)] + clause.values
        let removed = try makingRoom(in: opened, sql, values) { () throws(CacheError) in
          try removeRows(in: opened, sql, values) { tell(opened) }
        }
        tell(opened)
        return (removed, clause.isIndexed)
      }
      count += removed.count
      guard removed.count == Self.markLimit, let end = removed.last else { return count }
      if !isIndexed { cursor = end }
    }
  }

  /// Removes the rows that an epoch covers, and then the epoch.
  private func reclaim(_ epoch: Epoch) async throws(CacheError) {
    var place: Epoch.Place?
    repeat {
      let start = place
      place = try await onIndex { [self] (opened) throws(CacheError) in
        try reclaimSome(epoch, after: start, in: opened)
      }
    } while place != nil
  }

  /// Removes some rows that an epoch covers. The call that removes the last rows also removes the epoch.
  ///
  /// - Returns: the place where the next call continues; nil if all rows are removed.
  func reclaimSome(
    _ epoch: Epoch, after place: Epoch.Place?, in opened: OpenDirectory
  ) throws(CacheError) -> Epoch.Place? {
    let (last, removals) = try opened.index.write {
      (connection) throws(CacheError) -> (Epoch.Place?, Removals) in
      let covered = try epoch.covered(after: place, limit: Self.markLimit, connection)
      var removals = Removals()
      for id in covered.ids {
        guard let row = try EntryRow.find("id = ?", [.integer(id)], connection).first else { continue }
        try row.delete(connection)
        removals.add(row)
      }
      var state = try IndexState(connection)
      state.subtract(removals)
      try state.save(connection)
      if covered.last == nil { try epoch.remove(connection) }
      return (covered.last, removals)
    }
    after(removals, in: opened)
    return last
  }

  /// Removes the rows that a query finds, and their body files.
  ///
  /// - Parameter finally: called at the end of the transaction.
  /// - Returns: their ids.
  @discardableResult
  func removeRows(
    in opened: OpenDirectory, _ sql: String, _ values: [SQLiteValue], finally: () -> Void = {}
  ) throws(CacheError) -> [Int64] {
    let (ids, removals) = try opened.index.write { (connection) throws(CacheError) in
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
      return (rows.map(\.id), removals)
    }
    if !ids.isEmpty { after(removals, in: opened) }
    return ids
  }
}
