import HTTPCacheFiles
import HTTPCacheStore

/// Contiguous stored bytes of a body within one block of 256 KiB, with their XXH64.
struct StoredPiece: Sendable, Hashable {
  let start: Int64
  let end: Int64
  let checksum: UInt64

  var range: Range<Int64> { start..<end }
}

/// The pieces of a body that are stored in its file, where each byte lies at its place in the body. Pieces
/// ascend and do not overlap. Pieces of one block do not touch: a block that is stored whole has one
/// checksum, however many parts its bytes came in.
struct StoredPieces: Sendable {
  /// The unit of reading and checking.
  static let blockLength: Int64 = 256 << 10
  /// The length of the part of a body whose pieces are in one row of the table `block`.
  static let partLength = 64 * blockLength
  /// No byte of a body lies beyond this, so that sums of positions do not overflow.
  static let farthest: Int64 = 1 << 60

  private(set) var list: [StoredPiece] = []
  /// The length of the body if all of it is stored; nil for a partial body.
  var wholeLength: Int64?

  init() {}

  /// The only piece of a body of one block.
  init(length: Int64, checksum: UInt64) {
    list = [StoredPiece(start: 0, end: length, checksum: checksum)]
    wholeLength = length
  }

  /// The numbers of the blocks in which a range lies.
  static func blocks(of range: Range<Int64>) -> Range<Int> {
    guard !range.isEmpty else { return 0..<0 }
    return Int(range.lowerBound / blockLength)..<Int((range.upperBound - 1) / blockLength) + 1
  }

  /// The end of the block that has a byte.
  static func blockEnd(of position: Int64) -> Int64 { (position / blockLength + 1) * blockLength }

  /// The stored ranges.
  var ranges: [Range<Int64>] { StoredRanges.union(list.map(\.range)) }

  /// The end of the last piece.
  var end: Int64 { list.last?.end ?? 0 }

  /// Whether a piece is a whole block.
  func isBlock(_ piece: StoredPiece) -> Bool {
    piece.start % Self.blockLength == 0
      && (piece.end % Self.blockLength == 0 || piece.end == wholeLength)
  }

  /// Whether the pieces contain every byte of some ranges.
  func cover(_ ranges: [Range<Int64>]) -> Bool {
    ranges.allSatisfy { run(from: $0).last?.end ?? .min >= $0.upperBound }
  }

  /// Adds a piece and removes the pieces that it contains.
  mutating func insert(_ piece: StoredPiece) {
    let first = firstIndex(after: piece.start - 1)
    var end = first
    while end < list.count, list[end].start < piece.end { end += 1 }
    list.replaceSubrange(first..<end, with: CollectionOfOne(piece))
  }

  /// The pieces of the same block that touch a range.
  func neighbors(of range: Range<Int64>) -> (before: StoredPiece?, after: StoredPiece?) {
    let next = firstIndex(after: range.lowerBound)
    let block = Self.blocks(of: range)
    func touching(_ index: Int, _ isTouching: (StoredPiece) -> Bool) -> StoredPiece? {
      guard list.indices.contains(index), isTouching(list[index]) else { return nil }
      return Self.blocks(of: list[index].range) == block ? list[index] : nil
    }
    return (
      touching(next - 1) { $0.end == range.lowerBound }, touching(next) { $0.start == range.upperBound }
    )
  }

  /// The contiguous pieces from the piece that has `range.lowerBound` up to the end of `range`; empty if no
  /// piece has `range.lowerBound`.
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
    let index = firstIndex(endingAfter: position)
    return index < list.count ? list[index] : nil
  }

  private func firstIndex(endingAfter position: Int64) -> Int {
    let next = firstIndex(after: position)
    return next > 0 && list[next - 1].end > position ? next - 1 : next
  }

  // The index of the first piece that starts after a position.
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
  // Start and end within the part, 4 bytes each, and the checksum, 8 bytes; all little-endian.
  private static let encodedLength = 16

  /// Adds the pieces of the next part of the body, as `parts(changed:)` encoded them.
  ///
  /// - Throws: `CacheError.damaged` if the pieces are impossible.
  mutating func append(_ bytes: UnsafeRawBufferPointer, part: Int64) throws(CacheError) {
    guard (0..<Self.farthest / Self.partLength).contains(part), bytes.count % Self.encodedLength == 0
    else { throw CacheError(.damaged, "index: pieces of a body that cannot be") }
    for offset in stride(from: 0, to: bytes.count, by: Self.encodedLength) {
      func place(_ offset: Int) -> Int64 {
        let place = bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
        return part * Self.partLength + Int64(UInt32(littleEndian: place))
      }
      let checksum = bytes.loadUnaligned(fromByteOffset: offset + 8, as: UInt64.self)
      let piece = StoredPiece(
        start: place(offset), end: place(offset + 4), checksum: UInt64(littleEndian: checksum))
      guard piece.start >= end, piece.end > piece.start, piece.end <= (part + 1) * Self.partLength,
        Self.blocks(of: piece.range).count == 1
      else { throw CacheError(.damaged, "index: pieces of a body that cannot be") }
      list.append(piece)
    }
  }

  /// The parts of the body that have pieces of a changed range, with their encoded pieces.
  func parts(changed: Range<Int64>) -> [(part: Int64, bytes: [UInt8])] {
    var parts: [(part: Int64, bytes: [UInt8])] = []
    var index = firstIndex(endingAfter: changed.lowerBound)
    while index < list.count, list[index].start < changed.upperBound {
      let part = list[index].start / Self.partLength
      let end = firstIndex(after: (part + 1) * Self.partLength - 1)
      var bytes: [UInt8] = []
      for piece in list[firstIndex(after: part * Self.partLength - 1)..<end] {
        for place in [piece.start, piece.end] {
          let place = UInt32(truncatingIfNeeded: place - part * Self.partLength)
          withUnsafeBytes(of: place.littleEndian) { bytes.append(contentsOf: $0) }
        }
        withUnsafeBytes(of: piece.checksum.littleEndian) { bytes.append(contentsOf: $0) }
      }
      parts.append((part, bytes))
      index = end
    }
    return parts
  }
}

/// The table `block`.
extension SQLiteConnection {
  /// The pieces of an entry; none if the entry was removed.
  ///
  /// - Parameter wholeLength: the length of the body if all of it is stored.
  /// - Throws: `CacheError.damaged` if the pieces are impossible.
  func pieces(of id: Int64, wholeLength: Int64?) throws(CacheError) -> StoredPieces {
    var pieces = StoredPieces()
    pieces.wholeLength = wholeLength
    try query("SELECT part, pieces FROM block WHERE entry = ? ORDER BY part", [.integer(id)]) {
      (row) throws(CacheError) in
      try pieces.append(row.blob(1), part: row.integer(0))
      return true
    }
    guard let wholeLength, !pieces.list.isEmpty else { return pieces }
    guard pieces.ranges == [0..<wholeLength], pieces.list.allSatisfy(pieces.isBlock) else {
      throw CacheError(.damaged, "index: checksums of the body are missing")
    }
    return pieces
  }

  /// Writes the rows of an entry that have pieces of a changed range.
  func save(
    _ pieces: StoredPieces, of id: Int64, changed: Range<Int64> = 0..<StoredPieces.farthest
  ) throws(CacheError) {
    for (part, bytes) in pieces.parts(changed: changed) {
      try run("INSERT OR REPLACE INTO block VALUES (?, ?, ?)", [.integer(id), .integer(part), .blob(bytes)])
    }
  }
}
