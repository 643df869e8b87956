import HTTPCacheFiles
import HTTPCacheSemantics
import HTTPCacheStore

/// A row of the table `entry`, without key, record and inline body.
struct EntryRow: Sendable {
  let id: Int64
  let hash: UInt64
  /// The number of the change that stored or freshened the entry.
  let mark: Int64
  let isInvalidated: Bool
  let isExpired: Bool
  let isPinned: Bool
  let touched: Int64
  let priority: Double
  /// Bytes of record and body.
  let size: Int64
  /// Bytes of the body outside the index.
  let cost: Int64
  /// Bytes of the body that are stored; -1 for an impossible number.
  let length: Int64
  let checksum: UInt64
  let groups: Int64
  /// The body file; nil for an inline body.
  let file: BodyName?
  /// Whether the row has a body file, whose name may be damaged.
  let hasFile: Bool
  let isPartial: Bool

  /// The columns with which a result begins that `init` reads.
  static let columns: [EntryColumn] = [
    .id, .hash, .mark, .invalid, .pinned, .touched, .priority, .size, .cost, .length, .checksum, .groups,
    .file, .partial,
  ]
  fileprivate static let places = EntrySelection(columns)

  /// The values of the column `invalid` beside 0.
  static let (invalidated, expired): (Int64, Int64) = (1, 2)

  /// The value of the column `invalid` for a response.
  static func state(of response: StoredResponse) -> Int64 {
    response.isInvalidated ? invalidated : response.isExpired ? expired : 0
  }

  init(_ row: SQLiteRow) {
    let places = Self.places
    id = row.integer(places[.id])
    hash = row.hash(places[.hash])
    mark = row.integer(places[.mark])
    let state = row.integer(places[.invalid])
    isExpired = state == Self.expired
    // A damaged value must not make a response usable.
    isInvalidated = state != 0 && state != Self.expired
    isPinned = row.integer(places[.pinned]) == 1
    touched = row.integer(places[.touched])
    priority = row.real(places[.priority])
    size = Self.bounded(row.integer(places[.size]))
    cost = Self.bounded(row.integer(places[.cost]))
    length = max(-1, min(row.integer(places[.length]), IndexState.mostBytes))
    checksum = row.hash(places[.checksum])
    groups = Self.bounded(row.integer(places[.groups]))
    hasFile = !row.isNull(places[.file])
    file = hasFile ? row.text(places[.file]).flatMap { BodyName(fileName: $0) } : nil
    isPartial = row.integer(places[.partial]) != 0
  }

  // Limits a number from the index: sums with a damaged number must not overflow.
  static func bounded(_ number: Int64) -> Int64 { max(0, min(number, IndexState.mostBytes)) }

  /// Removes the row and its rows in other tables. The caller updates `state`.
  func delete(_ connection: SQLiteConnection) throws(CacheError) {
    try connection.run("DELETE FROM entry WHERE id = ?", [.integer(id)])
    if file != nil, isPartial || length > StoredPieces.blockLength {
      try connection.run("DELETE FROM block WHERE entry = ?", [.integer(id)])
    }
    if groups > 0 { try connection.run("DELETE FROM membership WHERE entry = ?", [.integer(id)]) }
  }
}

extension SQLiteConnection {
  /// Reads the rows that match a condition.
  ///
  /// - Parameter row: returns whether to continue.
  func eachRow(
    where condition: String, _ values: [SQLiteValue] = [], row: (EntryRow) -> Bool
  ) throws(CacheError) {
    try query("SELECT \(EntryRow.places.sql) FROM entry WHERE \(condition)", values) { row(EntryRow($0)) }
  }

  /// The rows that match a condition.
  func rows(where condition: String, _ values: [SQLiteValue] = []) throws(CacheError) -> [EntryRow] {
    var rows: [EntryRow] = []
    try eachRow(where: condition, values) { row in
      rows.append(row)
      return true
    }
    return rows
  }
}
