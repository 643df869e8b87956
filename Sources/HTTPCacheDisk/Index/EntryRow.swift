import HTTPCacheSemantics
import HTTPCacheStore

/// What has to be known of a row to remove it.
struct EntryRow: Sendable {
  let id: Int64
  let hash: UInt64
  /// Bytes it takes, record and body.
  let size: Int64
  /// Bytes its body takes outside of the database.
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

  // What is damaged must not make sums overflow.
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

  /// The row of a partial body in a file; nil if it is gone.
  static func partial(
    _ id: Int64, file: BodyName, _ connection: SQLiteConnection
  ) throws(CacheError) -> EntryRow? {
    try find(
      "id = ? AND partial = 1 AND file = ?", [.integer(id), .text(file.path)], connection
    ).first
  }

  /// Removes the row and what hangs on it; the state's sums are the caller's business.
  func delete(_ connection: SQLiteConnection) throws(CacheError) {
    try connection.run("DELETE FROM entry WHERE id = ?", [.integer(id)])
    if file != nil, isPartial || length > StoredPieces.blockLength {
      try connection.run("DELETE FROM block WHERE entry = ?", [.integer(id)])
    }
    if groups > 0 { try connection.run("DELETE FROM membership WHERE entry = ?", [.integer(id)]) }
  }
}

/// What a transaction took out of the index: to be unlinked and told after it was committed.
struct Removals: Sendable {
  /// A file whose row is gone.
  struct File: Sendable {
    let name: BodyName
    /// Bytes it takes.
    let cost: Int64
  }

  var files: [File] = []
  /// Files into which a writer may be writing.
  var partialFiles: [BodyName] = []
  var hashes: [UInt64] = []
  var count = 0
  var cost: Int64 = 0

  /// - Parameter kept: a file that another row has from now on.
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
