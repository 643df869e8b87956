import HTTPCacheStore

extension Epoch {
  /// The place where the search for covered rows continues.
  struct Place: Sendable {
    let id: Int64
    /// The target of the last row; only for prefixes and sites, whose rows are read in the order of their targets.
    var target = ""
  }

  /// Some of the rows that the epoch covers.
  ///
  /// - Returns: their ids, and the place where the next call continues; nil if no rows are left.
  func covered(
    after place: Place?, limit: Int, _ connection: SQLiteConnection
  ) throws(CacheError) -> (ids: [Int64], last: Place?) {
    var ids: [Int64] = []
    var last = Place(id: 0)
    let (sql, values) = query(after: place)
    try connection.query("\(sql) LIMIT \(limit)", values) { row in
      last = Place(id: row.integer(0), target: row.text(1) ?? "")
      ids.append(last.id)
      return true
    }
    return (ids, ids.count < limit ? nil : last)
  }

  private func query(after place: Place?) -> (String, [SQLiteValue]) {
    let id = SQLiteValue.integer(place?.id ?? 0)
    let mark = SQLiteValue.integer(sequence)
    switch kind {
    case .all:
      return (
        "SELECT id, '' FROM entry NOT INDEXED WHERE id > ? AND id <= ? AND mark < ? ORDER BY id",
        [id, mark, mark]
      )
    case .partition:
      // Nearly all entries are in the partition without a name, so SQLite's index leaves it out.
      let table = scope.isEmpty ? "entry NOT INDEXED" : "entry"
      let condition = scope.isEmpty ? "" : "partition <> '' AND "
      return (
        """
        SELECT id, '' FROM \(table) WHERE \(condition)partition = ? AND mode = ? AND id > ? AND mark < ?
        ORDER BY id
        """, [.text(scope), .integer(number), id, mark]
      )
    case .prefix, .site:
      let prefix = kind == .site ? scope + "/" : scope
      let target = SQLiteValue.text(place?.target ?? prefix)
      let condition = kind == .site ? "AND partition = ? AND mode = ?" : ""
      let values = [target, .text(prefix + "\u{10FFFF}"), target, id, mark]
      return (
        """
        SELECT id, target FROM entry WHERE target >= ? AND target < ?
        AND (target > ? OR id > ?) AND mark < ? \(condition) ORDER BY target, id
        """, values + (kind == .site ? [.text(name), .integer(number)] : [])
      )
    case .storedBefore, .storedSince:
      // Read in the order of ids: the index by time would lead to the same rows again and again.
      let comparison = kind == .storedBefore ? "<" : ">="
      return (
        """
        SELECT id, '' FROM entry NOT INDEXED WHERE id > ? AND id <= ? AND mark < ? AND stored \(comparison) ?
        ORDER BY id
        """, [id, mark, mark, .integer(number)]
      )
    case .group:
      return (
        """
        SELECT membership.entry, '' FROM membership CROSS JOIN entry ON entry.id = membership.entry
        WHERE origin = ? AND name = ? AND membership.entry > ? AND mark < ? ORDER BY membership.entry
        """, [.text(scope), .text(name), id, mark]
      )
    }
  }
}
