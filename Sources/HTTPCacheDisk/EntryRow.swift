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

  /// The columns that `init` expects.
  static let columns = "id, hash, size, cost, length, groups, file, priority"

  init(_ row: SQLiteRow) {
    id = row.integer(0)
    hash = row.hash(1)
    size = row.integer(2)
    cost = row.integer(3)
    length = row.integer(4)
    groups = row.integer(5)
    file = row.text(6).flatMap { BodyName(path: $0) }
    priority = row.real(7)
  }

  /// Removes the row and what hangs on it; the state's sums are the caller's business.
  func delete(_ connection: SQLiteConnection) throws(CacheError) {
    try connection.run("DELETE FROM entry WHERE id = ?", [.integer(id)])
    if file != nil, length > BlockChecksums.blockLength {
      try connection.run("DELETE FROM block WHERE entry = ?", [.integer(id)])
    }
    if groups > 0 { try connection.run("DELETE FROM membership WHERE entry = ?", [.integer(id)]) }
  }
}

/// What a transaction took out of the index: to be unlinked and told after it was committed.
struct Removals: Sendable {
  var files: [BodyName] = []
  var hashes: [UInt64] = []
  var count = 0
  var cost: Int64 = 0

  mutating func add(_ row: EntryRow) {
    if let file = row.file { files.append(file) }
    if hashes.count <= 64 { hashes.append(row.hash) }
    count += 1
    cost += row.cost
  }
}
