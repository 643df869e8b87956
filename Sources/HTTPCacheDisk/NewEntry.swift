import HTTPCacheSemantics
import HTTPCacheStore

/// A body, or a part of one, with its record, ready to get its row.
struct NewEntry: Sendable {
  enum Body: Sendable {
    case inline(BodyBytes)
    case file(BodyName)
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

  let record: CacheRecord
  let body: Body
  /// Bytes of the body that are stored.
  let storedLength: Int64
  /// Of a complete body, or one in the database.
  let checksums: BlockChecksums
  /// Of a part in a file.
  let pieces: [StoredPiece]
  let variantLimit: Int
  let predecessor: Predecessor?
  let encoded: [UInt8]

  init(
    record: CacheRecord, body: Body, storedLength: Int64,
    checksums: BlockChecksums = BlockChecksums(), pieces: [StoredPiece] = [], variantLimit: Int,
    predecessor: Predecessor? = nil
  ) throws(CacheError) {
    self.record = record
    self.body = body
    self.storedLength = storedLength
    self.checksums = checksums
    self.pieces = pieces
    self.predecessor = predecessor
    self.variantLimit = variantLimit
    encoded = try RecordCodec.encode(record)
  }

  /// Bytes the body takes outside of the database.
  var cost: Int64 {
    if case .inline = body { return 0 }
    return Self.fileCost(record.storedRanges ?? [0..<storedLength])
  }

  /// The file it has; nil if it is in the database.
  var file: BodyName? {
    if case .file(let name) = body { return name }
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
    _ connection: SQLiteConnection, id: Int64, now: Timestamp, priority: Double, isInvalidated: Bool
  ) throws(CacheError) {
    var file = SQLiteValue.null
    var inline = SQLiteValue.null
    switch body {
    case .file(let name): file = .text(name.path)
    case .inline(let bytes): inline = .blob(bytes.array)
    }
    let key = record.key
    let origin = key.origin
    let groups = Array(Set(record.groups))
    try connection.run(
      """
      INSERT INTO entry (id, hash, variant, mark, invalid, pinned, stored, touched, priority, size,
      cost, length, checksum, mode, method, groups, partition, target, digest, file, record, body,
      partial) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """,
      [
        .integer(id), .hash(key.hash), .hash(RecordCodec.variantHash(of: record)), .integer(id),
        .integer(isInvalidated ? 1 : 0), .integer(record.isPinned ? 1 : 0),
        .integer(record.response.responseTime.seconds), .integer(now.seconds), .real(priority),
        .integer(size),
        .integer(cost), .integer(storedLength), .hash(checksums.values.first ?? 0),
        .integer(Int64(key.mode.rawValue)), .integer(Int64(key.methodClass.rawValue)),
        .integer(Int64(groups.count)), .text(key.partition), .text(key.target),
        .blob(key.contentDigest), file, .blob(encoded), inline,
        .integer(record.isComplete ? 0 : 1),
      ])
    try StoredPieces.insert(pieces, entry: id, connection)
    if checksums.values.count > 1 {
      var start = 0
      while start < checksums.values.count {
        let end = min(checksums.values.count, start + BlockChecksums.perRow)
        try connection.run(
          "INSERT INTO block VALUES (?, ?, ?)",
          [
            .integer(id), .integer(Int64(start / BlockChecksums.perRow)),
            .blob(BlockChecksums.encode(checksums.values[start..<end])),
          ])
        start = end
      }
    }
    try Self.insertGroups(groups, origin: origin, id: id, connection)
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
