import HTTPCacheSemantics
import HTTPCacheStore

/// Reads a body's file and checks the blocks it reads.
final class BlockReader: Sendable {
  /// Tells what is stored, with checksums; asked only where something is to be checked.
  typealias Pieces = @Sendable () throws(CacheError) -> StoredPieces

  let file: OpenFile
  private let verification: Verification
  private let checked: CheckedBlocks
  // What the file was when it was opened; nil for one that this store is writing.
  private let state: FileState?

  /// The most bytes that are read on the caller's thread if they are in the page cache: copying them
  /// takes less than a change of threads, hashing them would take more.
  private static let inlineLimit = (checked: 1 << 20, unchecked: 64 << 10)

  init(
    file: OpenFile, verification: Verification, checked: CheckedBlocks = CheckedBlocks(),
    state: FileState? = nil
  ) {
    self.file = file
    self.verification = verification
    self.checked = checked
    self.state = state
  }

  /// Whether the blocks of a range were checked, so that it may be sent without being read, and the file
  /// is what it was when it was opened.
  func isVerified(_ range: Range<Int64>) -> Bool { isChecked(range) && isUnchanged }

  private func isChecked(_ range: Range<Int64>) -> Bool {
    verification == .firstRead && checked.contains(StoredPieces.blocks(of: range))
  }

  /// Whether the file holds the bytes that it held when it was opened.
  private var isUnchanged: Bool {
    guard let state else { return true }
    return (try? file.status()).map { FileState($0).hasBytes(of: state) } ?? false
  }

  /// Reads a range, which must be stored and not empty; on the caller's thread if that is quick, else on one of
  /// `queue`. Checks blocks that were not checked yet, and all blocks of a file that has changed since it was
  /// opened.
  ///
  /// - Throws: `CacheError.damaged`, `CacheError.io`.
  func read(
    _ range: Range<Int64>, _ pieces: @escaping Pieces, on queue: WorkQueue
  ) async throws(CacheError) -> BodyBytes {
    if let bytes = try read(range, pieces, onlyCached: true) { return bytes }
    return try await queue.run { () throws(CacheError) in
      try self.read(range, pieces, onlyCached: false) ?? BodyBytes()
    }
  }

  /// Reads a range, which must be stored and not empty, on the calling thread.
  ///
  /// - Parameter onlyCached: gives up, with nil, where it would have to wait for a disk, or copy or hash so much
  ///   that it holds its thread.
  /// - Throws: `CacheError.damaged`, `CacheError.io`.
  func read(
    _ range: Range<Int64>, _ pieces: Pieces, onlyCached: Bool
  ) throws(CacheError) -> BodyBytes? {
    if isChecked(range) {
      if onlyCached, range.count > Self.inlineLimit.checked { return nil }
      guard let bytes = try bytes(at: range, onlyCached: onlyCached) else { return nil }
      // Asked after reading: a write that was read has changed the times before.
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
      // Of a piece of a block nothing is remembered: there are two for each stored range at most.
      if pieces.isBlock(piece) { checked.insert(StoredPieces.blocks(of: piece.range)) }
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
  func checkAll(_ pieces: @escaping Pieces) throws(CacheError) {
    let all = try pieces()
    for piece in all.list where !isChecked(piece.range) {
      _ = try read(piece.range, { all }, onlyCached: false)
    }
  }
}
