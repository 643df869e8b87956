import HTTPCacheSemantics
import HTTPCacheStore

/// "Every entry that was stored or freshened before this change and matches is invalidated" (expired, or removed). A
/// change of many entries writes an epoch at once instead of changing each row.
struct Epoch: Sendable {
  /// The effect on matching entries.
  enum Effect: Sendable, Hashable {
    case marks(StoredResponse.Mark)
    case removes
  }

  let selection: CacheSelection
  let effect: Effect
  /// The number of the change. Rows whose `mark` is at least this stay as they are.
  let sequence: Int64

  /// Whether the epoch applies to a record that was stored or freshened as the `mark`th change.
  func covers(_ record: CacheRecord, mark: Int64) -> Bool {
    // No epoch depends on the last use.
    mark < sequence && selection.matches(record, lastUsed: record.response.responseTime)
  }
}

/// The table `epoch`.
extension Epoch {
  private static let partition: Int64 = 1
  // Set in the column `kind` for an epoch that removes, or expires.
  private static let (removalBit, expiryBit): (Int64, Int64) = (16, 32)
  private static let bits = removalBit | expiryBit

  private var bit: Int64 {
    switch effect {
    case .marks(.invalidated): 0
    case .marks(.expired): Self.expiryBit
    case .removes: Self.removalBit
    }
  }

  /// The first columns; nil for a selection whose entries are always changed one by one.
  private var columns: [SQLiteValue]? {
    func make(kind: Int64, number: Int64 = 0, scope: String = "", name: String = "") -> [SQLiteValue] {
      [.integer(kind | bit), .integer(number), .text(scope), .text(name)]
    }
    return switch selection {
    case .all: make(kind: 0)
    case .partition(let mode, let partition):
      make(kind: Self.partition, number: Int64(mode.rawValue), scope: partition)
    case .prefix(let prefix): make(kind: 2, scope: prefix)
    case .group(let origin, let name): make(kind: 3, scope: origin, name: name)
    case .storedBefore(let time): make(kind: 4, number: time.seconds)
    case .storedSince(let time): make(kind: 5, number: time.seconds)
    case .site(let origin, let mode, let partition):
      make(kind: 6, number: Int64(mode.rawValue), scope: origin, name: partition)
    case .key, .variant, .target, .unusedSince: nil
    }
  }

  /// The selection of a row with the columns `kind`, `mode`, `scope` and `name`.
  private static func selection(_ row: SQLiteRow) throws(CacheError) -> CacheSelection {
    let (kind, number) = (row.integer(0), row.integer(1))
    let (scope, name) = (row.text(2) ?? "", row.text(3) ?? "")
    let mode = CacheMode(rawValue: UInt8(clamping: number)) ?? .private
    switch kind & ~bits {
    case 0: return .all
    case partition: return .partition(mode: mode, scope)
    case 2: return .prefix(scope)
    case 3: return .group(origin: scope, name: name)
    case 4: return .storedBefore(Timestamp(seconds: number))
    case 5: return .storedSince(Timestamp(seconds: number))
    case 6: return .site(origin: scope, mode: mode, partition: name)
    default: throw CacheError(.damaged, "index: epoch of an unknown kind", cause: IndexDamage())
    }
  }

  static func load(_ connection: SQLiteConnection) throws(CacheError) -> [Epoch] {
    var epochs: [Epoch] = []
    try connection.query("SELECT kind, mode, scope, name, sequence FROM epoch") {
      (row) throws(CacheError) in
      let kind = row.integer(0)
      epochs.append(
        Epoch(
          selection: try selection(row),
          effect: kind & removalBit != 0
            ? .removes : .marks(kind & expiryBit != 0 ? .expired : .invalidated),
          sequence: row.integer(4)))
      return true
    }
    return epochs
  }

  /// Writes the epoch, within a transaction.
  ///
  /// - Returns: false for a selection whose entries are always changed one by one.
  func save(_ connection: SQLiteConnection) throws(CacheError) -> Bool {
    guard let columns else { return false }
    try connection.run(
      "INSERT OR REPLACE INTO epoch VALUES (?, ?, ?, ?, ?)", columns + [.integer(sequence)])
    return true
  }

  /// The number of the epoch in the index that removes the same selection; nil if this one removes nothing, or there is
  /// none.
  func removal(on connection: SQLiteConnection) throws(CacheError) -> Int64? {
    guard effect == .removes, let columns else { return nil }
    return try connection.number(
      "SELECT sequence FROM epoch WHERE kind = ? AND mode = ? AND scope = ? AND name = ?", columns)
  }

  /// Removes the epoch after it was applied, unless a later one has replaced it.
  func remove(_ connection: SQLiteConnection) throws(CacheError) {
    guard let columns else { return }
    try connection.run(
      "DELETE FROM epoch WHERE kind = ? AND mode = ? AND scope = ? AND name = ? AND sequence = ?",
      columns + [.integer(sequence)])
  }

  /// Removes the epochs of a partition up to the change `last`. A later epoch stays: it covers entries that
  /// were stored after that change.
  static func remove(
    mode: CacheMode, partition: String, upTo last: Int64, on connection: SQLiteConnection
  ) throws(CacheError) {
    try connection.run(
      "DELETE FROM epoch WHERE kind & ~\(bits) = ? AND mode = ? AND scope = ? AND sequence <= ?",
      [.integer(Self.partition), .integer(Int64(mode.rawValue)), .text(partition), .integer(last)])
  }
}

extension [Epoch] {
  /// Applies the epochs to a record that was stored or freshened as the `mark`th change: nil if an epoch removes it.
  func applied(to record: CacheRecord, mark: Int64) -> CacheRecord? {
    var response = record.response
    for epoch in self where epoch.covers(record, mark: mark) {
      switch epoch.effect {
      case .removes: return nil
      case .marks(let mark): response = response.marked(as: mark)
      }
    }
    let isSame =
      response.isInvalidated == record.response.isInvalidated
      && response.isExpired == record.response.isExpired
    return isSame ? record : record.with(response: response)
  }
}
