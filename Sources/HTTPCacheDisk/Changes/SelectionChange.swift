import HTTPCacheStore

/// The removal or invalidation of the rows that an epoch covers.
struct SelectionChange: Sendable {
  let epoch: Epoch
  /// Whether the epoch is in the index, because one transaction could not change all rows.
  var isSaved = false
  /// The ids of the rows to change; empty for an invalidation whose epoch is in the index.
  var rows: [Int64] = []
  /// The number of rows that it has changed: another change may remove some of them first.
  var count = 0
  /// Whether all rows are changed.
  var isDone = false
}

extension Epoch {
  /// The ids of the rows that match and are not changed yet.
  func rows(
    limit: Int = .max, hashes: RowHashes, on connection: SQLiteConnection
  ) throws(CacheError) -> [Int64] {
    let clause = SelectionClause(selection, hashes)
    var ids: [Int64] = []
    try connection.query(
      "SELECT id FROM \(clause.table) WHERE \(clause.sql) AND mark < ? LIMIT \(limit)",
      clause.values + [.integer(sequence)]
    ) { row in
      ids.append(row.integer(0))
      return true
    }
    return ids
  }

  /// Changes these rows, except for those that were freshened since. What else a selection asks for stays as it was
  /// when `rows` found them; for a group, asking again would read all its members for each row.
  ///
  /// - Returns: the number of rows that it changed.
  func apply(to rows: [Int64], in transaction: inout Transaction) throws(CacheError) -> Int {
    let connection = transaction.connection
    var count = 0
    for id in rows {
      let row = try connection.rows(where: "id = ? AND mark < ?", [.integer(id), .integer(sequence)]).first
      guard let row else { continue }
      switch effect {
      case .removes: try transaction.delete(row)
      case .marks(let mark): try transaction.mark(id, as: mark)
      }
      count += 1
    }
    return count
  }
}
