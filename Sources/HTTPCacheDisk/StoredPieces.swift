import HTTPCacheStore

/// A stretch of a body in its file, within one block of 256 KiB, with its XXH64.
struct StoredPiece: Sendable, Hashable {
  let start: Int64
  let end: Int64
  let checksum: UInt64
}

/// The pieces of a body that is stored in part: ascending, and none over another. They lie in the file
/// where they lie in the body.
struct StoredPieces: Sendable {
  private(set) var list: [StoredPiece] = []

  init() {}

  /// The pieces of whole blocks that were written from the start of a body on.
  init(checksums: ArraySlice<UInt64>, flushed: Int64) {
    list = checksums.indices.map { index in
      let start = Int64(index) * BlockChecksums.blockLength
      return StoredPiece(
        start: start, end: min(flushed, start + BlockChecksums.blockLength),
        checksum: checksums[index])
    }
  }

  /// The stored ranges.
  var ranges: [Range<Int64>] {
    var ranges: [Range<Int64>] = []
    for piece in list {
      if let last = ranges.last, last.upperBound == piece.start {
        ranges[ranges.count - 1] = last.lowerBound..<piece.end
      } else {
        ranges.append(piece.start..<piece.end)
      }
    }
    return ranges
  }

  /// Whether there are many more of them than blocks and ranges, as when a body comes in small parts.
  var isFragmented: Bool {
    let blocks = StoredRanges.count(ranges) / BlockChecksums.blockLength
    return Int64(list.count) > blocks + 2 * Int64(StoredRanges.most) + 64
  }

  /// Where the last piece ends.
  var end: Int64 { list.last?.end ?? 0 }

  /// Adds a piece where none is.
  mutating func insert(_ piece: StoredPiece) { list.insert(piece, at: firstIndex(after: piece.start)) }

  /// The pieces from the one that has `range.lowerBound` on, as far as they follow one another and
  /// `range` goes; empty if none has it.
  func run(from range: Range<Int64>) -> ArraySlice<StoredPiece> {
    let next = firstIndex(after: range.lowerBound)
    guard next > 0, list[next - 1].end > range.lowerBound, !range.isEmpty else { return [] }
    var end = next
    while end < list.count, list[end].start < range.upperBound,
      list[end].start == list[end - 1].end
    {
      end += 1
    }
    return list[next - 1..<end]
  }

  /// The piece that has a byte, or the next one after it.
  func piece(atOrAfter position: Int64) -> StoredPiece? {
    let next = firstIndex(after: position)
    if next > 0, list[next - 1].end > position { return list[next - 1] }
    return next < list.count ? list[next] : nil
  }

  // The index of the first piece that starts after a place.
  private func firstIndex(after position: Int64) -> Int {
    var low = 0
    var high = list.count
    while low < high {
      let middle = (low + high) / 2
      if list[middle].start <= position { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

extension StoredPieces {
  /// The pieces of an entry.
  ///
  /// - Throws: `CacheError.damaged` if they cannot be those of a file.
  static func load(
    _ connection: SQLiteConnection, entry: Int64
  ) throws(CacheError) -> StoredPieces {
    var pieces = StoredPieces()
    try connection.query(
      "SELECT start, \"end\", checksum FROM piece WHERE entry = ? ORDER BY start", [.integer(entry)]
    ) { (row) throws(CacheError) in
      let piece = StoredPiece(start: row.integer(0), end: row.integer(1), checksum: row.hash(2))
      guard piece.start >= pieces.end, piece.end > piece.start,
        piece.start / BlockChecksums.blockLength == (piece.end - 1) / BlockChecksums.blockLength
      else { throw CacheError(.damaged, "index: pieces of a body that cannot be") }
      pieces.list.append(piece)
      return true
    }
    return pieces
  }

  /// Writes the rows of pieces.
  static func insert(
    _ pieces: some Sequence<StoredPiece>, entry: Int64, _ connection: SQLiteConnection
  ) throws(CacheError) {
    for piece in pieces {
      try connection.run(
        "INSERT INTO piece VALUES (?, ?, ?, ?)",
        [
          .integer(entry), .integer(piece.start), .integer(piece.end), .hash(piece.checksum),
        ])
    }
  }

  /// Whether every byte of some ranges is in a piece.
  func cover(_ ranges: [Range<Int64>]) -> Bool {
    let own = self.ranges
    return ranges.allSatisfy { range in
      own.contains { $0.lowerBound <= range.lowerBound && $0.upperBound >= range.upperBound }
    }
  }
}
