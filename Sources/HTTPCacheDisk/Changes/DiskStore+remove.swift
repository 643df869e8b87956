import HTTPCacheSemantics
public import HTTPCacheStore
import Synchronization

extension DiskStore {
  /// Removes what matches. Up to 256 entries go in one transaction. For more, one transaction writes an epoch,
  /// from which on none of them is found; then they are reclaimed, some hundred at a time, so that other
  /// processes get to write in between. If the process ends before that, the next one that opens the directory
  /// goes on.
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
    // Also if nothing is found: a process that removed it may have ended before it told of it.
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
    /// The epoch that was written, and how many entries it covers; nil for a few entries.
    var epoch: (Epoch, count: Int)?
    /// The latest change before.
    var last: Int64
  }

  private func beginRemoval(
    of selection: CacheSelection, in opened: OpenDirectory, _ tell: (OpenDirectory) -> Void
  ) throws(CacheError) -> RemovalBeginning {
    // So that other processes find out if this one ends before it tells them.
    try? opened.becomeOwner()
    // A full disk has no room for it, and must not keep anything from being removed.
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
      // Where there is no room for an epoch, removing makes room.
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
        // What was matched is gone, so an index leads straight to what is left; without one, reading
        // goes on where it stopped.
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

  /// Removes some rows that an epoch covers; with the last of them the epoch.
  ///
  /// - Returns: where to go on; nil if all are removed.
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

  /// Removes the rows that a query finds, and their files.
  ///
  /// - Parameter finally: done at the end of the transaction.
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
