import HTTPCacheSemantics
public import HTTPCacheStore

extension DiskStore {
  /// Marks what matches as invalidated. A few entries are marked at once; for many of a partition,
  /// prefix or group an epoch is written, and the entries are marked in the background. Where the disk is so
  /// full that there is no room for a mark, the entries are removed.
  ///
  /// - Returns: the number of responses marked; nil if an epoch was written.
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
      // So that others find out if this process ends before it tells them.
      try? opened.becomeOwner()
      // Also if it cannot be written down: what is on its way is stored as invalidated all the same.
      opened.noteInvalidation(selection)
      // A full disk has no room for it, and must not keep anything from being marked.
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

  /// The most entries that one transaction marks or removes.
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

  /// Marks the matching rows between two ids.
  ///
  /// - Returns: the last id seen and the number of rows; nil when there are none left.
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
