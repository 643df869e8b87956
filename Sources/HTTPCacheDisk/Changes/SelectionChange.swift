import HTTPCacheStore

/// The removal or invalidation of the rows that an epoch covers.
struct SelectionChange: Sendable {
  /// A row by its number, with the number of the change that stored or freshened it.
  typealias Row = (id: Int64, mark: Int64)

  let epoch: Epoch
  /// The number of a removal of the same selection that is under way.
  var removal: Int64?
  /// Whether the epoch is in the index, because one transaction could not change all rows.
  var isSaved = false
  /// The rows to change; none for an invalidation whose epoch is in the index.
  var rows: [Row] = []
  /// The number of rows that match, without those of a removal that is under way.
  var count = 0
  /// Whether all rows are changed.
  var isDone = false

  mutating func found(_ rows: [Row]) {
    self.rows = rows
    // The removal under way has counted the rows that were there before it.
    count = rows.count { $0.mark >= removal ?? .min }
  }
}

extension Epoch {
  /// The rows that match and are not changed yet.
  func rows(
    limit: Int = .max, hashes: RowHashes, on connection: SQLiteConnection
  ) throws(CacheError) -> [SelectionChange.Row] {
    let clause = SelectionClause(selection, hashes)
    var rows: [SelectionChange.Row] = []
    try connection.query(
      "SELECT id, mark FROM \(clause.table) WHERE \(clause.sql) AND mark < ? LIMIT \(limit)",
      clause.values + [.integer(sequence)]
    ) { row in
      rows.append((row.integer(0), row.integer(1)))
      return true
    }
    return rows
  }

  /// Changes these rows, except for those that were freshened since. What else a selection asks for stays as it was
  /// when `rows` found them; for a group, asking again would read all its members for each row.
  func apply(to rows: [SelectionChange.Row], in transaction: inout Transaction) throws(CacheError) {
    let connection = transaction.connection
    for found in rows {
      let row = try connection.rows(
        where: "id = ? AND mark < ?", [.integer(found.id), .integer(sequence)]
      ).first
      guard let row else { continue }
      switch effect {
      case .removes: try transaction.delete(row)
      case .marks(let mark): try transaction.mark(row.id, as: mark)
      }
    }
  }
}
