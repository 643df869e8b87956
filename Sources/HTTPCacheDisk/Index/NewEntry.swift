import HTTPCacheSemantics
import HTTPCacheStore

/// A body, or a part of one, with its record, ready to get its row.
struct NewEntry: Sendable {
  enum Body: Sendable {
    /// All of it.
    case inline(BodyBytes)
    case file(BodyName, StoredPieces)
  }

  /// The row that the same body has had until now.
  struct Predecessor: Sendable {
    let id: Int64
    /// Whether it must still be there.
    let isRequired: Bool
  }

  /// The longest body that is kept in the database, in bytes: below it a row costs less than a file.
  static let inlineLimit: Int64 = 16 << 10
  /// What a row takes beside record and body, in all indexes, about.
  static let rowOverhead: Int64 = 320
  /// What the name of a file takes in its folder, about.
  static let nameOverhead: Int64 = 64

  private(set) var record: CacheRecord
  let body: Body
  /// Bytes of the body that are stored.
  let storedLength: Int64
  /// Of a complete body of one block, or in the database; else 0.
  let checksum: UInt64
  let variantLimit: Int
  let predecessor: Predecessor?
  /// Holds the reservation of its bytes until its row is committed.
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

  /// The same for an index that took the place of the one it was made for; nil if its body lies in a file
  /// there. Nobody knows what was invalidated between the two, so it is stored as invalidated.
  func moved() -> NewEntry? {
    guard case .inline = body, predecessor == nil else { return nil }
    var moved = self
    moved.record = record.with(ticket: .oldest)
    moved.reservation = nil
    return moved
  }

  /// Bytes that are reserved for it.
  var reserved: Int64 { reservation?.reserved ?? 0 }

  /// Bytes the body takes outside of the database.
  var cost: Int64 {
    if case .inline = body { return 0 }
    return Self.fileCost(record.storedRanges ?? [0..<storedLength])
  }

  /// The file it has; nil if it is in the database.
  var file: BodyName? {
    if case .file(let name, _) = body { return name }
    return nil
  }

  /// Bytes that a file takes which has only these ranges of its body.
  static func fileCost(_ ranges: [Range<Int64>]) -> Int64 {
    let page = PageCount.pageSize
    return ranges.reduce(nameOverhead) { cost, range in
      let end = range.upperBound.saturatingAdd(page - 1) / page
      return cost.saturatingAdd((end - range.lowerBound / page) * page)
    }
  }

  /// Bytes it takes, record and body.
  var size: Int64 { Self.size(encoded: encoded.count, length: storedLength, cost: cost) }

  static func size(encoded: Int, length: Int64, cost: Int64) -> Int64 {
    Int64(encoded) + rowOverhead + (cost > 0 ? cost : length)
  }

  /// Writes the row and what hangs on it.
  ///
  /// - Parameter isInvalidated: whether it has to be validated before any reuse, whatever its record says.
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
