import HTTPCacheSemantics
import HTTPCacheStore

/// "All that was stored before this and matches is invalidated": what a purge of many entries writes
/// instead of touching each one.
struct Epoch: Sendable {
  enum Kind: Int64 {
    case all = 0
    case partition = 1
    case prefix = 2
    case group = 3
  }

  let kind: Kind
  /// Of a partition.
  let mode: Int64
  /// A partition, a prefix, or the origin of a group.
  let scope: String
  /// Of a group.
  let name: String
  let sequence: Int64

  /// The epoch for a selection; nil for one that is marked entry by entry.
  init?(_ selection: CacheSelection, sequence: Int64) {
    switch selection {
    case .all: self.init(.all, sequence: sequence)
    case .partition(let mode, let partition):
      self.init(.partition, mode: Int64(mode.rawValue), scope: partition, sequence: sequence)
    case .prefix(let prefix): self.init(.prefix, scope: prefix, sequence: sequence)
    case .group(let origin, let name):
      self.init(.group, scope: origin, name: name, sequence: sequence)
    case .key, .variant, .target, .storedSince, .unusedSince, .storedBefore: return nil
    }
  }

  private init(
    _ kind: Kind, mode: Int64 = 0, scope: String = "", name: String = "", sequence: Int64
  ) {
    self.kind = kind
    self.mode = mode
    self.scope = scope
    self.name = name
    self.sequence = sequence
  }

  /// The selection it was made from.
  var selection: CacheSelection {
    switch kind {
    case .all: .all
    case .partition: .partition(mode: CacheMode(rawValue: UInt8(clamping: mode)) ?? .private, scope)
    case .prefix: .prefix(scope)
    case .group: .group(origin: scope, name: name)
    }
  }

  /// Whether it invalidates a record that was stored or freshened as the `mark`th change.
  func covers(_ record: CacheRecord, mark: Int64) -> Bool {
    guard mark < sequence else { return false }
    return switch kind {
    case .all: true
    case .partition: record.key.partition == scope && Int64(record.key.mode.rawValue) == mode
    case .prefix: record.key.target.utf8.starts(with: scope.utf8)
    case .group: record.groups.contains(name) && record.key.origin == scope
    }
  }

  static func load(_ connection: SQLiteConnection) throws(CacheError) -> [Epoch] {
    var epochs: [Epoch] = []
    try connection.query("SELECT kind, mode, scope, name, sequence FROM epoch") {
      (row) throws(CacheError) in
      guard let kind = Kind(rawValue: row.integer(0)) else {
        throw CacheError(.damaged, "index: epoch of an unknown kind", cause: IndexDamage())
      }
      epochs.append(
        Epoch(
          kind, mode: row.integer(1), scope: row.text(2) ?? "", name: row.text(3) ?? "",
          sequence: row.integer(4)))
      return true
    }
    return epochs
  }

  func save(_ connection: SQLiteConnection) throws(CacheError) {
    try connection.run(
      "INSERT OR REPLACE INTO epoch VALUES (?, ?, ?, ?, ?)",
      [.integer(kind.rawValue), .integer(mode), .text(scope), .text(name), .integer(sequence)])
  }

  /// Removes that of a partition, which has its name, unless it is later than a change: it then covers what
  /// came after that.
  static func remove(
    mode: CacheMode, partition: String, upTo last: Int64, _ connection: SQLiteConnection
  ) throws(CacheError) {
    try connection.run(
      "DELETE FROM epoch WHERE kind = ? AND mode = ? AND scope = ? AND sequence <= ?",
      [
        .integer(Kind.partition.rawValue), .integer(Int64(mode.rawValue)), .text(partition),
        .integer(last),
      ])
  }

  /// Removes it once every entry it covers is marked, unless a later one took its place.
  func remove(_ connection: SQLiteConnection) throws(CacheError) {
    try connection.run(
      "DELETE FROM epoch WHERE kind = ? AND mode = ? AND scope = ? AND name = ? AND sequence = ?",
      [.integer(kind.rawValue), .integer(mode), .text(scope), .text(name), .integer(sequence)])
  }
}
