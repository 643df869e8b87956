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

  private(set) var record: CacheRecord
  let body: Body
  /// Bytes of the body that are stored.
  let storedLength: Int64
  /// Of a complete body, or one in the database.
  let checksums: BlockChecksums
  /// Of a part in a file.
  let pieces: [StoredPiece]
  let variantLimit: Int
  let predecessor: Predecessor?
  /// Holds the reservation of its bytes until its row is committed.
  private(set) var reservation: WriterPhase?
  let encoded: [UInt8]

  init(
    record: CacheRecord, body: Body, storedLength: Int64,
    checksums: BlockChecksums = BlockChecksums(), pieces: [StoredPiece] = [], variantLimit: Int,
    predecessor: Predecessor? = nil, reservation: WriterPhase? = nil
  ) throws(CacheError) {
    self.record = record
    self.body = body
    self.storedLength = storedLength
    self.checksums = checksums
    self.pieces = pieces
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
    _ connection: SQLiteConnection, _ hashes: RowHashes, id: Int64, now: Timestamp, priority: Double,
    isInvalidated: Bool
  ) throws(CacheError) {
    let key = record.key
    let groups = Array(Set(record.groups))
    try connection.run(Self.insertion) { values in
      values.integer(id, 1)
      values.hash(hashes.hash(of: key), 2)
      values.hash(hashes.variantHash(of: record), 3)
      values.integer(id, 4)
      values.integer(isInvalidated ? 1 : 0, 5)
      values.integer(record.isPinned ? 1 : 0, 6)
      values.integer(record.response.responseTime.seconds, 7)
      values.integer(now.seconds, 8)
      values.real(priority, 9)
      values.integer(size, 10)
      values.integer(cost, 11)
      values.integer(storedLength, 12)
      values.hash(checksums.values.first ?? 0, 13)
      values.integer(Int64(key.mode.rawValue), 14)
      values.integer(Int64(key.methodClass.rawValue), 15)
      values.integer(Int64(groups.count), 16)
      values.text(key.partition, 17)
      values.text(key.target, 18)
      values.blob(key.contentDigest, 19)
      values.blob(encoded, 21)
      switch body {
      case .file(let name):
        values.text(name.path, 20)
        values.null(22)
      case .inline(let bytes):
        values.null(20)
        values.blob(sharing: bytes, 22)
      }
      values.integer(record.isComplete ? 0 : 1, 23)
    }
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
    guard !groups.isEmpty else { return }
    try Self.insertGroups(groups, origin: key.origin, id: id, connection)
  }

  private static let insertion = FrequentStatement(
    """
    INSERT INTO entry (id, hash, variant, mark, invalid, pinned, stored, touched, priority, size, cost,
    length, checksum, mode, method, groups, partition, target, digest, file, record, body, partial)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    """)

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
