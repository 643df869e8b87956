import HTTPCacheSemantics
import HTTPCacheStore

/// A selection as an SQL condition on the rows of `entry`.
struct SelectionClause {
  let sql: String
  let values: [SQLiteValue]
  /// Whether an index of SQLite leads to the rows. If not, a repeated query has to pass over other rows.
  let isIndexed: Bool

  init(_ selection: CacheSelection, _ hashes: RowHashes) {
    switch selection {
    case .all:
      self.init("1", [], isIndexed: true)
    case .partition(let mode, let partition):
      // SQLite's index has the partitions with a name.
      let hasName = !partition.isEmpty
      self.init(
        (hasName ? "partition <> '' AND " : "") + "partition = ? AND mode = ?",
        [.text(partition), .integer(Int64(mode.rawValue))], isIndexed: hasName)
    case .key(let key):
      self.init(
        "hash = ? AND target = ? AND partition = ? AND mode = ? AND method = ? AND digest = ?",
        [
          .hash(hashes.hash(of: key)), .text(key.target), .text(key.partition),
          .integer(Int64(key.mode.rawValue)), .integer(Int64(key.methodClass.rawValue)),
          .blob(key.contentDigest),
        ], isIndexed: true)
    case .variant(let key, let sequence):
      self.init(
        "id = ? AND hash = ?", [.integer(Int64(bitPattern: sequence)), .hash(hashes.hash(of: key))],
        isIndexed: true)
    case .target(let target):
      self.init("target = ?", [.text(target)], isIndexed: true)
    case .prefix(let prefix):
      // SQLite compares text byte by byte, and no target contains the last code point of Unicode.
      self.init(
        "target >= ? AND target < ?", [.text(prefix), .text(prefix + "\u{10FFFF}")],
        isIndexed: true)
    case .site(let origin, let mode, let partition):
      let prefix = origin + "/"
      self.init(
        "target >= ? AND target < ? AND partition = ? AND mode = ?",
        [
          .text(prefix), .text(prefix + "\u{10FFFF}"), .text(partition),
          .integer(Int64(mode.rawValue)),
        ], isIndexed: true)
    case .group(let origin, let name):
      self.init(
        "id IN (SELECT entry FROM membership WHERE origin = ? AND name = ?)",
        [.text(origin), .text(name)], isIndexed: true)
    case .storedSince(let time):
      self.init("stored >= ?", [.integer(time.seconds)], isIndexed: false)
    case .storedBefore(let time):
      self.init("stored < ?", [.integer(time.seconds)], isIndexed: false)
    case .unusedSince(let time):
      self.init("touched < ?", [.integer(time.seconds)], isIndexed: false)
    }
  }

  private init(_ sql: String, _ values: [SQLiteValue], isIndexed: Bool) {
    self.sql = sql
    self.values = values
    self.isIndexed = isIndexed
  }

  /// The table for the `FROM` clause; read in the order of its rows if no index helps.
  var table: String { isIndexed ? "entry" : "entry NOT INDEXED" }
}
