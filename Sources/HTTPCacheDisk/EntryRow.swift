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

  /// The columns that `init` expects.
  static let columns = "id, hash, size, cost, length, groups, file, priority, partial"

  init(_ row: SQLiteRow) {
    id = row.integer(0)
    hash = row.hash(1)
    size = Self.bounded(row.integer(2))
    cost = Self.bounded(row.integer(3))
    length = Self.bounded(row.integer(4))
    groups = Self.bounded(row.integer(5))
    file = row.text(6).flatMap { BodyName(path: $0) }
    priority = row.real(7)
    isPartial = row.integer(8) != 0
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
    if isPartial {
      try connection.run("DELETE FROM piece WHERE entry = ?", [.integer(id)])
    } else if file != nil, length > BlockChecksums.blockLength {
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
