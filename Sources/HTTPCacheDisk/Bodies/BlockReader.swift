import HTTPCacheFiles
import HTTPCacheSemantics
import HTTPCacheStore

/// Reads a body file and checks the checksums of the blocks it reads.
final class BlockReader: Sendable {
  /// Loads the stored pieces with their checksums; called only if a block must be checked.
  typealias Pieces = @Sendable () throws(CacheError) -> StoredPieces

  let file: CacheFile
  private let pieces: Pieces
  private let checksEveryRead: Bool
  /// The blocks that were checked, and the state of the file then. Nil for a file that this store is writing: its state
  /// changes all the time, and would not tell that another program has changed it.
  private let known: (checked: CheckedBlocks, state: FileState)?

  /// The most bytes to read on the caller's thread if they are in the page cache. Copying so many bytes takes
  /// less time than a change of threads; hashing takes longer than copying.
  private static let inlineLimit = (checked: 1 << 20, unchecked: 64 << 10)

  /// - Parameters:
  ///   - checksEveryRead: whether a block is checked again although it was checked before.
  ///   - known: the blocks that were checked before, and the state of the file when it was opened; nil for a file
  ///     that this store is writing, whose blocks are checked at each read.
  init(
    file: CacheFile, checksEveryRead: Bool, known: (checked: CheckedBlocks, state: FileState)? = nil,
    pieces: @escaping Pieces
  ) {
    self.file = file
    self.pieces = pieces
    self.checksEveryRead = checksEveryRead
    self.known = known
  }

  /// Whether all blocks of a range were checked and the file is unchanged since it was opened. Such a range
  /// may be sent without being read.
  func isVerified(_ range: Range<Int64>) -> Bool { isChecked(range) && isUnchanged }

  private func isChecked(_ range: Range<Int64>) -> Bool {
    !checksEveryRead && known?.checked.contains(StoredPieces.blocks(of: range)) ?? false
  }

  /// Whether the file holds the bytes that it held when it was opened.
  private var isUnchanged: Bool {
    guard let known, let status = try? file.status() else { return false }
    return FileState(status).hasBytes(of: known.state)
  }

  /// Reads a range, which must be stored and not empty: on the caller's thread if that is quick, otherwise on
  /// a thread of `queue`. Checks blocks that were not checked yet. If the file has changed since it was
  /// opened, checks all blocks again.
  ///
  /// - Throws: `CacheError.damaged`, `CacheError.io`.
  func read(_ range: Range<Int64>, on queue: WorkQueue) async throws(CacheError) -> BodyBytes {
    if let bytes = try read(range, onlyCached: true) { return bytes }
    return try await queue.run { () throws(CacheError) in
      try self.read(range, onlyCached: false) ?? BodyBytes()
    }
  }

  /// Reads a range, which must be stored and not empty, on the calling thread.
  ///
  /// - Parameter onlyCached: returns nil if the read would wait for a disk, or if copying or hashing so many
  ///   bytes would hold the thread.
  /// - Throws: `CacheError.damaged`, `CacheError.io`.
  func read(_ range: Range<Int64>, onlyCached: Bool) throws(CacheError) -> BodyBytes? {
    if isChecked(range) {
      if onlyCached, range.count > Self.inlineLimit.checked { return nil }
      guard let bytes = try bytes(at: range, onlyCached: onlyCached) else { return nil }
      // Compare the state after reading: a write that changed the bytes read has changed the file's times before.
      if isUnchanged { return bytes }
      if onlyCached { return nil }
    }
    if onlyCached, range.count > Self.inlineLimit.unchecked { return nil }
    let pieces = try pieces()
    let run = pieces.run(from: range)
    guard let first = run.first, let last = run.last, last.end >= range.upperBound else {
      throw CacheError(.damaged, "parts of the body have no checksum")
    }
    let span = first.start..<last.end
    if onlyCached, span.count > Int(StoredPieces.blockLength) { return nil }
    guard let bytes = try bytes(at: span, onlyCached: onlyCached) else { return nil }
    for piece in run {
      try check(piece, in: bytes[Int(piece.start - span.lowerBound)..<Int(piece.end - span.lowerBound)])
      // Only whole blocks are remembered as checked. Each stored range has at most two pieces that are no
      // whole block.
      if pieces.isBlock(piece) { known?.checked.insert(StoredPieces.blocks(of: piece.range)) }
    }
    let offset = Int(range.lowerBound - span.lowerBound)
    return bytes[offset..<offset + range.count]
  }

  private func bytes(at span: Range<Int64>, onlyCached: Bool) throws(CacheError) -> BodyBytes? {
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
    return wasAll ? bytes : nil
  }

  private func check(_ piece: StoredPiece, in bytes: BodyBytes) throws(CacheError) {
    guard bytes.withUnsafeBytes({ XXH64.hash($0) }) == piece.checksum else {
      let block = piece.start / StoredPieces.blockLength
      throw CacheError(.damaged, "block \(block) of the body is not what was written")
    }
  }

  /// Checks every piece that was not checked yet.
  ///
  /// - Throws: `CacheError.damaged`, `CacheError.io`.
  func checkAll() throws(CacheError) {
    for piece in try pieces().list where !isChecked(piece.range) {
      _ = try read(piece.range, onlyCached: false)
    }
  }
}
