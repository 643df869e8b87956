import HTTPCacheSemantics
import HTTPCacheStore

/// "Every entry that was stored before this change and matches is invalidated" (or removed). A change of many
/// entries writes an epoch at once instead of changing each row.
struct Epoch: Sendable {
  enum Kind: Int64 {
    case all = 0
    case partition = 1
    case prefix = 2
    case group = 3
    case storedBefore = 4
    case storedSince = 5
    case site = 6
  }

  let kind: Kind
  /// Whether matching entries count as removed; otherwise they count as invalidated.
  let removes: Bool
  /// The mode of a partition, or a time in seconds.
  let number: Int64
  /// A partition, a prefix, or the origin of a group or site.
  let scope: String
  /// The name of a group, or the partition of a site.
  let name: String
  let sequence: Int64

  // Set in the column `kind` for an epoch that removes.
  private static let removalBit: Int64 = 16

  /// The epoch for a selection; nil for a selection whose entries are always changed one by one.
  init?(_ selection: CacheSelection, removes: Bool, sequence: Int64) {
    func make(
      _ kind: Kind, number: Int64 = 0, scope: String = "", name: String = ""
    ) -> Epoch {
      Epoch(
        kind, removes: removes, number: number, scope: scope, name: name, sequence: sequence)
    }
    switch selection {
    case .all: self = make(.all)
    case .partition(let mode, let partition):
      self = make(.partition, number: Int64(mode.rawValue), scope: partition)
    case .prefix(let prefix): self = make(.prefix, scope: prefix)
    case .site(let origin, let mode, let partition):
      self = make(.site, number: Int64(mode.rawValue), scope: origin, name: partition)
    case .group(let origin, let name): self = make(.group, scope: origin, name: name)
    case .storedBefore(let time): self = make(.storedBefore, number: time.seconds)
    case .storedSince(let time): self = make(.storedSince, number: time.seconds)
    case .key, .variant, .target, .unusedSince: return nil
    }
  }

  private init(
    _ kind: Kind, removes: Bool, number: Int64, scope: String, name: String, sequence: Int64
  ) {
    self.kind = kind
    self.removes = removes
    self.number = number
    self.scope = scope
    self.name = name
    self.sequence = sequence
  }

  /// The selection that the epoch was made from.
  var selection: CacheSelection {
    let mode = CacheMode(rawValue: UInt8(clamping: number)) ?? .private
    return switch kind {
    case .all: .all
    case .partition: .partition(mode: mode, scope)
    case .prefix: .prefix(scope)
    case .site: .site(origin: scope, mode: mode, partition: name)
    case .group: .group(origin: scope, name: name)
    case .storedBefore: .storedBefore(Timestamp(seconds: number))
    case .storedSince: .storedSince(Timestamp(seconds: number))
    }
  }

  /// Whether the epoch applies to a record that was stored or freshened as the `mark`th change.
  func covers(_ record: CacheRecord, mark: Int64) -> Bool {
    // No epoch depends on the last use.
    mark < sequence && selection.matches(record, lastUsed: record.response.responseTime)
  }

  private var storedKind: Int64 { kind.rawValue | (removes ? Self.removalBit : 0) }

  static func load(_ connection: SQLiteConnection) throws(CacheError) -> [Epoch] {
    var epochs: [Epoch] = []
    try connection.query("SELECT kind, mode, scope, name, sequence FROM epoch") {
      (row) throws(CacheError) in
      guard let kind = Kind(rawValue: row.integer(0) & ~removalBit) else {
        throw CacheError(.damaged, "index: epoch of an unknown kind", cause: IndexDamage())
      }
      epochs.append(
        Epoch(
          kind, removes: row.integer(0) & removalBit != 0, number: row.integer(1),
          scope: row.text(2) ?? "", name: row.text(3) ?? "", sequence: row.integer(4)))
      return true
    }
    return epochs
  }

  func save(_ connection: SQLiteConnection) throws(CacheError) {
    try connection.run(
      "INSERT OR REPLACE INTO epoch VALUES (?, ?, ?, ?, ?)",
      [.integer(storedKind), .integer(number), .text(scope), .text(name), .integer(sequence)])
  }

  /// Removes the epochs of a partition up to the change `last`. A later epoch stays: it covers entries that
  /// were stored after that change.
  static func remove(
    mode: CacheMode, partition: String, upTo last: Int64, _ connection: SQLiteConnection
  ) throws(CacheError) {
    try connection.run(
      "DELETE FROM epoch WHERE kind IN (?, ?) AND mode = ? AND scope = ? AND sequence <= ?",
      [
        .integer(Kind.partition.rawValue), .integer(Kind.partition.rawValue | removalBit),
        .integer(Int64(mode.rawValue)), .text(partition), .integer(last),
      ])
  }

  /// Removes the epoch after it was applied, unless a later one has replaced it.
  func remove(_ connection: SQLiteConnection) throws(CacheError) {
    try connection.run(
      "DELETE FROM epoch WHERE kind = ? AND mode = ? AND scope = ? AND name = ? AND sequence = ?",
      [.integer(storedKind), .integer(number), .text(scope), .text(name), .integer(sequence)])
  }
}

extension [Epoch] {
  /// Applies the epochs to a record that was stored or freshened as the `mark`th change: nil if an epoch removes it.
  func applied(to record: CacheRecord, mark: Int64) -> CacheRecord? {
    var isInvalidated = record.response.isInvalidated
    for epoch in self where epoch.covers(record, mark: mark) {
      if epoch.removes { return nil }
      isInvalidated = true
    }
    guard isInvalidated, !record.response.isInvalidated else { return record }
    return record.with(response: record.response.invalidated)
  }
}
