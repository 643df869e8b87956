import HTTPCacheSemantics
import HTTPCacheStore

/// The removal or invalidation of the rows of a selection that were last changed before it began.
struct SelectionChange: Sendable {
  let selection: CacheSelection
  /// Whether the rows are removed; otherwise they are invalidated.
  let removes: Bool
  /// Rows whose `mark` is at least this were stored or freshened after the change began, and stay as they are.
  let bound: Int64
  /// Set if one transaction could not change all rows.
  var epoch: Epoch?
  /// The ids of the rows to change; empty for an invalidation with an epoch.
  var rows: [Int64] = []
  /// Whether all rows are changed.
  var isDone = false

  init(selection: CacheSelection, removes: Bool, bound: Int64) {
    self.selection = selection
    self.removes = removes
    self.bound = bound
  }

  /// The change of which an epoch is left.
  init(_ epoch: Epoch) {
    self.init(selection: epoch.selection, removes: epoch.removes, bound: epoch.sequence)
    self.epoch = epoch
  }

  /// The ids of the rows that are not changed yet.
  func remaining(_ hashes: RowHashes, _ connection: SQLiteConnection) throws(CacheError) -> [Int64] {
    try rows(SelectionClause(selection, hashes), limit: .max, connection)
  }

  /// The ids of rows that match.
  func rows(
    _ clause: SelectionClause, limit: Int, _ connection: SQLiteConnection
  ) throws(CacheError) -> [Int64] {
    var ids: [Int64] = []
    try connection.query(
      "SELECT id FROM \(clause.table) WHERE \(clause.sql) AND mark < ? LIMIT \(limit)",
      clause.values + [.integer(bound)]
    ) { row in
      ids.append(row.integer(0))
      return true
    }
    return ids
  }

  /// Changes these rows as far as they still match, within a transaction.
  func apply(
    to rows: [Int64], _ clause: SelectionClause, _ state: inout IndexState, _ connection: SQLiteConnection
  ) throws(CacheError) -> Removals {
    var removals = Removals()
    for id in rows {
      let values = [.integer(id), .integer(bound)] + clause.values
      let row = try EntryRow.find("id = ? AND mark < ? AND \(clause.sql)", values, connection).first
      guard let row else { continue }
      if removes { try removals.delete(row, connection) } else { try DiskStore.mark(id, connection) }
    }
    state.subtract(removals)
    return removals
  }
}
