import HTTPCacheFiles
import HTTPCacheSemantics
import HTTPCacheStore

/// A record and its body, whole or partial, that has no row yet.
struct NewEntry: Sendable {
  enum Body: Sendable {
    case inline(BodyBytes)
    case file(BodyName, StoredPieces)
  }

  enum Purpose: Sendable {
    /// All of the body that will be stored has arrived.
    case finished
    /// The body is still being written. Nothing is evicted for its row.
    case unfinished
    /// The response gets no row, but what it replaces is out of date and is removed.
    case refused
  }

  /// The longest inline body in bytes. Below this length a row costs less than a file.
  static let inlineLimit: Int64 = 16 << 10
  /// Bytes of a row beside record and body, in all indexes of SQLite; an estimate.
  static let rowOverhead: Int64 = 320
  /// Bytes of a file name in its folder; an estimate.
  static let nameOverhead: Int64 = 64

  let record: CacheRecord
  let body: Body
  /// Bytes of the body that are stored.
  let storedLength: Int64
  /// The checksum of an inline body, or of a complete body of one block; otherwise 0.
  let checksum: UInt64
  let variantLimit: Int
  /// The row that the body has had until now, and whether the row must still exist; nil if there is none.
  let predecessor: (id: Int64, isRequired: Bool)?
  let purpose: Purpose
  /// The file of the writer, made or not. Its reserved bytes are released when the row is committed.
  let bodyFile: BodyFile
  let encoded: [UInt8]

  init(
    record: CacheRecord, body: Body, variantLimit: Int, predecessor: (id: Int64, isRequired: Bool)?,
    purpose: Purpose, bodyFile: BodyFile
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
    self.purpose = purpose
    self.variantLimit = min(variantLimit, StoredEntry.mostOfHash)
    self.bodyFile = bodyFile
    encoded = try RecordCodec.encode(record)
  }

  /// Bytes that are reserved for the body and that its row counts.
  var reserved: Int64 {
    purpose == .unfinished ? min(bodyFile.reserved, storedLength) : bodyFile.reserved
  }

  /// Bytes of the body outside the index.
  var cost: Int64 { file == nil ? 0 : Self.fileCost(record.storedRanges ?? [0..<storedLength]) }

  private var inlineBody: BodyBytes? {
    if case .inline(let bytes) = body { return bytes }
    return nil
  }

  /// The name of the body file; nil for an inline body.
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
  /// - Parameter state: the value of the column `invalid`, whatever the record says.
  func insert(
    as id: Int64, now: Timestamp, priority: Double, state: Int64, in transaction: inout Transaction
  ) throws(CacheError) {
    let connection = transaction.connection
    let groups = Array(Set(record.groups))
    try connection.run(
      EntryColumn.insertion,
      EntryColumn.allCases.map { column in
        switch column {
        case .id, .mark: .integer(id)
        case .invalid: .integer(state)
        case .pinned: .integer(record.isPinned ? 1 : 0)
        case .touched: .integer(now.seconds)
        case .priority: .real(priority)
        case .size: .integer(size)
        case .checksum: .hash(checksum)
        case .groups: .integer(Int64(groups.count))
        case .file: file.map { .text($0.fileName) } ?? .null
        case .record: .blob(encoded)
        case .body: inlineBody.map { .shared($0) } ?? .null
        case .hash, .variant, .stored, .cost, .length, .mode, .method, .partition, .target, .digest, .partial:
          column.value(
            for: record, hashes: transaction.hashes, length: storedLength, hasFile: file != nil) ?? .null
        }
      })
    if case .file(_, let pieces) = body, !record.isComplete || pieces.list.count > 1 {
      try connection.save(pieces, of: id)
    }
    try connection.insertGroups(groups, of: record.key, id: id)
    transaction.state.entries += 1
    transaction.state.bodies += cost
  }
}

extension SQLiteConnection {
  /// Inserts the memberships of an entry.
  func insertGroups(_ groups: [String], of key: CacheKey, id: Int64) throws(CacheError) {
    if groups.isEmpty { return }
    let origin = key.origin
    for group in groups {
      try run(
        "INSERT OR IGNORE INTO membership VALUES (?, ?, ?)", [.text(origin), .text(group), .integer(id)])
    }
  }
}
