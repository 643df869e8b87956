import HTTPCacheSemantics
import HTTPCacheStore

/// A record and its body, whole or partial, that has no row yet.
struct NewEntry: Sendable {
  enum Body: Sendable {
    /// An inline body.
    case inline(BodyBytes)
    case file(BodyName, StoredPieces)
  }

  /// The row that the body has had until now.
  struct Predecessor: Sendable {
    let id: Int64
    /// Whether the row must still exist.
    let isRequired: Bool
  }

  /// The longest inline body in bytes. Below this length a row costs less than a file.
  static let inlineLimit: Int64 = 16 << 10
  /// Bytes of a row beside record and body, in all indexes of SQLite; an estimate.
  static let rowOverhead: Int64 = 320
  /// Bytes of a file name in its folder; an estimate.
  static let nameOverhead: Int64 = 64

  private(set) var record: CacheRecord
  let body: Body
  /// Bytes of the body that are stored.
  let storedLength: Int64
  /// The checksum of an inline body, or of a complete body of one block; otherwise 0.
  let checksum: UInt64
  let variantLimit: Int
  let predecessor: Predecessor?
  /// The reservation for the bytes of the body; released when the row is committed.
  private(set) var reservation: WriterPhase?
  let encoded: [UInt8]

  init(
    record: CacheRecord, body: Body, variantLimit: Int, predecessor: Predecessor? = nil,
    reservation: WriterPhase? = nil
  ) throws(CacheError) {
    self.record = record
    self.body = body
    switch body {
    case .inline(let bytes):
      storedLength = Int64(bytes.count)
      checksum = bytes.withUnsafeBytes { XXH64.hash($0) }
    case .file(_, let pieces):
      storedLength = StoredRanges.count(pieces.ranges)
      checksum = record.isComplete && pieces.list.count == 1 ? pieces.list[0].checksum : 0
    }
    self.predecessor = predecessor
    self.variantLimit = min(variantLimit, HashRow.mostVariants)
    self.reservation = reservation
    encoded = try RecordCodec.encode(record)
  }

  /// A copy of the entry for an index that has replaced the one that the entry was made for; nil for a body
  /// in a file of the replaced index. The copy is stored as invalidated, because invalidations between the
  /// two indexes are unknown.
  func moved() -> NewEntry? {
    guard case .inline = body, predecessor == nil else { return nil }
    var moved = self
    moved.record = record.with(ticket: .oldest)
    moved.reservation = nil
    return moved
  }

  /// Bytes that are reserved for the body.
  var reserved: Int64 { reservation?.reserved ?? 0 }

  /// Bytes of the body outside the index.
  var cost: Int64 {
    if case .inline = body { return 0 }
    return Self.fileCost(record.storedRanges ?? [0..<storedLength])
  }

  /// The body file; nil for an inline body.
  var file: BodyName? {
    if case .file(let name, _) = body { return name }
    return nil
  }

  /// Bytes of a body file that has only these ranges of its body.
  static func fileCost(_ ranges: [Range<Int64>]) -> Int64 {
    let page = PageCount.pageSize
    return ranges.reduce(nameOverhead) { cost, range in
      let end = range.upperBound.saturatingAdd(page - 1) / page
      return cost.saturatingAdd((end - range.lowerBound / page) * page)
    }
  }

  /// Bytes of record and body.
  var size: Int64 { Self.size(encoded: encoded.count, length: storedLength, cost: cost) }

  static func size(encoded: Int, length: Int64, cost: Int64) -> Int64 {
    Int64(encoded) + rowOverhead + (cost > 0 ? cost : length)
  }

  /// Inserts the row and its rows in other tables.
  ///
  /// - Parameter isInvalidated: whether the entry must be validated before each reuse, whatever its record says.
  func insert(
    _ connection: SQLiteConnection, _ hashes: RowHashes, id: Int64, now: Timestamp, priority: Double,
    isInvalidated: Bool
  ) throws(CacheError) {
    let key = record.key
    let groups = Array(Set(record.groups))
    try connection.run(EntryColumn.insertion) { values in
      for column in EntryColumn.allCases {
        let index = column.parameter
        switch column {
        case .id, .mark: values.integer(id, index)
        case .hash: values.hash(hashes.hash(of: key), index)
        case .variant: values.hash(hashes.variantHash(of: record), index)
        case .invalid: values.integer(isInvalidated ? 1 : 0, index)
        case .pinned: values.integer(record.isPinned ? 1 : 0, index)
        case .stored: values.integer(record.response.responseTime.seconds, index)
        case .touched: values.integer(now.seconds, index)
        case .priority: values.real(priority, index)
        case .size: values.integer(size, index)
        case .cost: values.integer(cost, index)
        case .length: values.integer(storedLength, index)
        case .checksum: values.hash(checksum, index)
        case .mode: values.integer(Int64(key.mode.rawValue), index)
        case .method: values.integer(Int64(key.methodClass.rawValue), index)
        case .groups: values.integer(Int64(groups.count), index)
        case .partition: values.text(key.partition, index)
        case .target: values.text(key.target, index)
        case .digest: values.blob(key.contentDigest, index)
        case .file: if let file { values.text(file.path, index) } else { values.null(index) }
        case .record: values.blob(encoded, index)
        case .body:
          if case .inline(let bytes) = body { values.blob(sharing: bytes, index) } else { values.null(index) }
        case .partial: values.integer(record.isComplete ? 0 : 1, index)
        }
      }
    }
    if case .file(_, let pieces) = body, !record.isComplete || pieces.list.count > 1 {
      try pieces.save(connection, entry: id)
    }
    guard !groups.isEmpty else { return }
    try Self.insertGroups(groups, origin: key.origin, id: id, connection)
  }

  static func insertGroups(
    _ groups: [String], origin: String, id: Int64, _ connection: SQLiteConnection
  ) throws(CacheError) {
    for group in groups {
      try connection.run(
        "INSERT OR IGNORE INTO membership VALUES (?, ?, ?)",
        [.text(origin), .text(group), .integer(id)])
    }
  }
}
