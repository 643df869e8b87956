import HTTPCacheSemantics
import HTTPCacheStore

/// The columns of a row that are needed to remove the row.
struct EntryRow: Sendable {
  let id: Int64
  let hash: UInt64
  /// Bytes of record and body.
  let size: Int64
  /// Bytes of the body outside the index.
  let cost: Int64
  let length: Int64
  let groups: Int64
  let file: BodyName?
  let priority: Double
  let isPartial: Bool

  static let selection = EntrySelection([
    .id, .hash, .size, .cost, .length, .groups, .file, .priority, .partial,
  ])
  /// The columns that `init` expects.
  static var columns: String { selection.sql }

  init(_ row: SQLiteRow) {
    let places = Self.selection
    id = row.integer(places[.id])
    hash = row.hash(places[.hash])
    size = Self.bounded(row.integer(places[.size]))
    cost = Self.bounded(row.integer(places[.cost]))
    length = Self.bounded(row.integer(places[.length]))
    groups = Self.bounded(row.integer(places[.groups]))
    file = row.text(places[.file]).flatMap { BodyName(path: $0) }
    priority = row.real(places[.priority])
    isPartial = row.integer(places[.partial]) != 0
  }

  // Limits a number from the index: sums with a damaged number must not overflow.
  static func bounded(_ number: Int64) -> Int64 { max(0, min(number, IndexState.mostBytes)) }

  /// The rows that match a condition.
  static func find(
    _ condition: String, _ values: [SQLiteValue], _ connection: SQLiteConnection
  ) throws(CacheError) -> [EntryRow] {
    var rows: [EntryRow] = []
    try connection.query("SELECT \(columns) FROM entry WHERE \(condition)", values) { row in
      rows.append(EntryRow(row))
      return true
    }
    return rows
  }

  /// The row of a partial body with this file; nil if there is none.
  static func partial(
    _ id: Int64, file: BodyName, _ connection: SQLiteConnection
  ) throws(CacheError) -> EntryRow? {
    try find(
      "id = ? AND partial = 1 AND file = ?", [.integer(id), .text(file.path)], connection
    ).first
  }

  /// Removes the row and its rows in other tables. The caller updates `state`.
  func delete(_ connection: SQLiteConnection) throws(CacheError) {
    try connection.run("DELETE FROM entry WHERE id = ?", [.integer(id)])
    if file != nil, isPartial || length > StoredPieces.blockLength {
      try connection.run("DELETE FROM block WHERE entry = ?", [.integer(id)])
    }
    if groups > 0 { try connection.run("DELETE FROM membership WHERE entry = ?", [.integer(id)]) }
  }
}

/// The rows that a transaction removed. After the commit, their files are unlinked and counters are raised.
struct Removals: Sendable {
  /// A body file whose row was removed.
  struct File: Sendable {
    let name: BodyName
    /// Bytes of the file.
    let cost: Int64
  }

  var files: [File] = []
  /// Files of partial bodies, which a writer may be writing.
  var partialFiles: [BodyName] = []
  var hashes: [UInt64] = []
  var count = 0
  var cost: Int64 = 0

  /// Deletes a row and adds it.
  mutating func delete(_ row: EntryRow, _ connection: SQLiteConnection) throws(CacheError) {
    try row.delete(connection)
    add(row)
  }

  /// - Parameter kept: a file that belongs to another row from now on, and is not unlinked.
  mutating func add(_ row: EntryRow, keeping kept: BodyName? = nil) {
    if let file = row.file, file != kept { add(file, cost: row.cost, isPartial: row.isPartial) }
    if hashes.count <= 64 { hashes.append(row.hash) }
    count += 1
    cost += row.cost
  }

  mutating func add(_ file: BodyName, cost: Int64, isPartial: Bool) {
    if isPartial { partialFiles.append(file) } else { files.append(File(name: file, cost: cost)) }
  }
}
