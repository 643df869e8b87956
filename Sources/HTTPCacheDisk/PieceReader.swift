import HTTPCacheSemantics
import HTTPCacheStore
import Synchronization

/// Reads the file of a body that is stored in part, and checks the pieces it reads.
final class PieceReader: Sendable {
  let file: OpenFile
  private let verification: Verification
  // Where the pieces start that were checked since the file was opened.
  private let checked = Mutex<Set<Int64>>([])

  /// The most bytes that are read on the caller's thread, if they are in the page cache.
  static let inlineLimit = 64 << 10

  init(file: OpenFile, verification: Verification) {
    self.file = file
    self.verification = verification
  }

  /// Reads from the beginning of a range on, as far as `pieces` go without a gap; on the caller's thread
  /// if that is quick, else on one of `queue`.
  ///
  /// - Throws: `CacheError.damaged`, `CacheError.io`.
  func read(
    _ range: Range<Int64>, _ pieces: StoredPieces, on queue: WorkQueue
  ) async throws(CacheError) -> BodyBytes {
    let run = pieces.run(from: range)
    guard let last = run.last else { return BodyBytes() }
    let range = range.lowerBound..<min(range.upperBound, last.end)
    if range.count <= Self.inlineLimit, let bytes = try read(range, run, onlyCached: true) {
      return bytes
    }
    return try await queue.run { () throws(CacheError) in
      try self.read(range, run, onlyCached: false) ?? BodyBytes()
    }
  }

  /// Reads a range that lies within a run of pieces, which must not be empty.
  ///
  /// - Parameter onlyCached: gives up, with nil, where it would have to wait for a disk, or hash so much
  ///   that it holds its thread.
  /// - Throws: `CacheError.damaged`, `CacheError.io`.
  func read(
    _ range: Range<Int64>, _ run: ArraySlice<StoredPiece>, onlyCached: Bool
  ) throws(CacheError) -> BodyBytes? {
    guard let first = run.first, let last = run.last else { return BodyBytes() }
    let isChecked =
      verification == .firstRead
      && checked.withLock { checked in run.allSatisfy { checked.contains($0.start) } }
    let span = isChecked ? range : first.start..<last.end
    if onlyCached, span.count > Int(BlockChecksums.blockLength) { return nil }
    var wasAll = true
    let bytes = try BodyBytes(unsafeUninitializedCapacity: span.count) {
      (buffer) throws(CacheError) -> Int in
      if onlyCached {
        wasAll = file.readCached(into: buffer, at: span.lowerBound)
        return wasAll ? buffer.count : 0
      }
      guard try file.read(into: buffer, at: span.lowerBound) == buffer.count else {
        throw CacheError(.damaged, "the body's file is too short")
      }
      return buffer.count
    }
    guard wasAll else { return nil }
    if isChecked { return bytes }
    for piece in run {
      let content = bytes[Int(piece.start - span.lowerBound)..<Int(piece.end - span.lowerBound)]
      guard content.withUnsafeBytes({ XXH64.hash($0) }) == piece.checksum else {
        throw CacheError(.damaged, "bytes \(piece.start)-\(piece.end - 1) are not what was written")
      }
    }
    checked.withLock { checked in for piece in run { checked.insert(piece.start) } }
    let offset = Int(range.lowerBound - span.lowerBound)
    return bytes[offset..<offset + range.count]
  }

  /// Checks every piece that was not checked yet.
  func checkAll(_ pieces: StoredPieces) throws(CacheError) {
    for piece in pieces.list
    where verification == .everyRead || !checked.withLock({ $0.contains(piece.start) }) {
      _ = try read(piece.start..<piece.end, [piece], onlyCached: false)
    }
  }

  /// The same pieces, with those of a block that follow one another made one. They are read and checked.
  ///
  /// - Throws: `CacheError.damaged`, `CacheError.io`.
  func joined(_ pieces: StoredPieces) throws(CacheError) -> StoredPieces {
    var joined = StoredPieces()
    var position: Int64 = 0
    while let first = pieces.piece(atOrAfter: position) {
      let blockEnd = (first.start / BlockChecksums.blockLength + 1) * BlockChecksums.blockLength
      let run = pieces.run(from: first.start..<blockEnd)
      let end = run.last?.end ?? first.end
      var checksum = first.checksum
      if run.count > 1 {
        let bytes = try read(first.start..<end, run, onlyCached: false) ?? BodyBytes()
        checksum = bytes.withUnsafeBytes { XXH64.hash($0) }
      }
      joined.insert(StoredPiece(start: first.start, end: end, checksum: checksum))
      position = end
    }
    return joined
  }

  /// The checksums of the blocks of a body whose pieces are all there. Where a block has several pieces
  /// it is read again, and they are checked.
  ///
  /// - Throws: `CacheError.damaged`, `CacheError.io`.
  func blockChecksums(_ pieces: StoredPieces, length: Int64) throws(CacheError) -> BlockChecksums {
    var checksums = BlockChecksums()
    var start: Int64 = 0
    while start < length {
      let end = min(length, start + BlockChecksums.blockLength)
      let run = pieces.run(from: start..<end)
      guard let first = run.first, first.start <= start, let last = run.last, last.end >= end else {
        throw CacheError(.damaged, "a part of the body is missing")
      }
      if run.count == 1 {
        checksums.values.append(first.checksum)
      } else {
        let block = try read(start..<end, run, onlyCached: false) ?? BodyBytes()
        checksums.values.append(block.withUnsafeBytes { XXH64.hash($0) })
      }
      start = end
    }
    return checksums
  }
}
