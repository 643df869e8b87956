import HTTPCacheSemantics
public import HTTPCacheStore

extension DiskStore {
  /// Invalidates the matching entries. Up to 256 entries are invalidated in one transaction. For more entries
  /// of a partition, prefix or group, the transaction writes an epoch, and the entries are invalidated in the
  /// background. If the disk is too full to write the invalidation, the entries are removed instead.
  ///
  /// - Returns: the number of responses invalidated; nil if an epoch was written.
  /// - Throws: `CacheError`.
  @discardableResult
  public func invalidate(_ selection: CacheSelection) async throws(CacheError) -> Int? {
    do throws(CacheError) { return try await mark(selection) } catch {
      guard error.code == .noSpace else { throw error }
      return try await remove(selection)
    }
  }

  private func mark(_ selection: CacheSelection) async throws(CacheError) -> Int? {
    let result = try await onIndex { [self] (opened) throws(CacheError) in
      // If this process ends before it raises the counters, other processes find its free owner lock.
      try? opened.becomeOwner()
      // Note the invalidation even if the index cannot be written: a response that is being transferred is
      // then stored as invalidated.
      opened.noteInvalidation(selection)
      // A full disk has no space for the batch. That must not prevent the invalidation.
      do throws(CacheError) { try writeBatch(opened) } catch {
        guard error.code == .noSpace else { throw error }
      }
      let result = try opened.index.write { (connection) throws(CacheError) in
        let clause = SelectionClause(selection, opened.hashes)
        let result = try Self.invalidate(selection, clause, connection)
        opened.noteInvalidation(selection)
        opened.bumpGenerations(selection)
        return result
      }
      opened.bumpGenerations(selection)
      return result
    }
    switch result {
    case .marked(let count): return count
    case .epoch:
      workOffEpochs()
      return nil
    case .many(let last):
      return try await markAll(selection, upTo: last)
    }
  }

  private enum Marking: Sendable {
    case marked(Int)
    case epoch
    case many(last: Int64)
  }

  private static func invalidate(
    _ selection: CacheSelection, _ clause: SelectionClause, _ connection: SQLiteConnection
  ) throws(CacheError) -> Marking {
    let ids = try ids(clause, limit: markLimit + 1, connection)
    if ids.count <= markLimit {
      for id in ids { try mark(id, connection) }
      return .marked(ids.count)
    }
    var state = try IndexState(connection)
    guard let epoch = Epoch(selection, removes: false, sequence: state.nextSequence()) else {
      return .many(last: state.sequence)
    }
    try epoch.save(connection)
    try state.save(connection)
    return .epoch
  }

  /// The most entries that one transaction invalidates or removes.
  static let markLimit = 256

  static func ids(
    _ clause: SelectionClause, limit: Int, _ connection: SQLiteConnection
  ) throws(CacheError) -> [Int64] {
    var ids: [Int64] = []
    try connection.query("SELECT id FROM entry WHERE \(clause.sql) LIMIT \(limit)", clause.values) { row in
      ids.append(row.integer(0))
      return true
    }
    return ids
  }

  static func mark(_ id: Int64, _ connection: SQLiteConnection) throws(CacheError) {
    try connection.run("UPDATE entry SET invalid = 1 WHERE id = ? AND invalid = 0", [.integer(id)])
  }

  /// Invalidates the matching rows between two ids.
  ///
  /// - Returns: the last id found and the number of rows; nil if no rows are left.
  private func markSome(
    _ clause: SelectionClause, after cursor: Int64, upTo last: Int64, before mark: Int64,
    _ connection: SQLiteConnection
  ) throws(CacheError) -> (last: Int64, count: Int)? {
    var ids: [Int64] = []
    try connection.query(
      """
      SELECT id FROM entry NOT INDEXED WHERE id > ? AND id <= ? AND mark < ? AND \(clause.sql)
      ORDER BY id LIMIT \(Self.markLimit)
      """, [.integer(cursor), .integer(last), .integer(mark)] + clause.values
    ) { row in
      ids.append(row.integer(0))
      return true
    }
    for id in ids { try Self.mark(id, connection) }
    return ids.last.map { ($0, ids.count) }
  }

  private func markAll(
    _ selection: CacheSelection, upTo last: Int64
  ) async throws(CacheError) -> Int {
    var count = 0
    var cursor: Int64 = 0
    while true {
      let start = cursor
      let step = try await onIndex { [self] (opened) throws(CacheError) in
        let step = try opened.index.write { (connection) throws(CacheError) in
          let clause = SelectionClause(selection, opened.hashes)
          return try markSome(clause, after: start, upTo: last, before: .max, connection)
        }
        if step != nil { opened.generations?.bumpAll() }
        return step
      }
      guard let step else { return count }
      count += step.count
      cursor = step.last
    }
  }
}
