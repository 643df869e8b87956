import HTTPCacheStore

/// Reads the stored bytes of a body from its file.
final class FileBodyReader: BodyReader {
  let length: Int64?
  let availableRanges: [Range<Int64>]
  // Nil for a partial body.
  private let wholeLength: Int64?
  private let blocks: BlockReader
  private let pieces: BlockReader.Pieces
  private let queue: WorkQueue
  private let onDamage: @Sendable (CacheError) -> Void

  /// - Parameter ranges: the stored ranges of a partial body; nil for a whole body.
  init(
    blocks: BlockReader, pieces: @escaping BlockReader.Pieces, length: Int64?,
    ranges: [Range<Int64>]?, queue: WorkQueue, onDamage: @escaping @Sendable (CacheError) -> Void
  ) {
    self.blocks = blocks
    self.pieces = pieces
    self.length = length
    availableRanges = ranges ?? [0..<(length ?? 0)]
    wholeLength = ranges == nil ? length : nil
    self.queue = queue
    self.onDamage = onDamage
  }

  var bytesInMemory: BodyBytes? { nil }

  var fileRegion: FileRegion? {
    guard let wholeLength else { return nil }
    return FileRegion(
      descriptor: blocks.file.descriptor, offset: 0, count: wholeLength,
      isVerified: blocks.isVerified(0..<wholeLength))
  }

  func isVerified(_ range: Range<Int64>) -> Bool {
    guard let wholeLength, range.lowerBound >= 0, range.upperBound <= wholeLength else { return false }
    return blocks.isVerified(range)
  }

  func read(_ range: Range<Int64>) async throws(CacheError) -> BodyBytes {
    guard let stored = availableRanges.first(where: { $0.contains(range.lowerBound) }) else {
      return BodyBytes()
    }
    let range = range.clamped(to: stored)
    guard !range.isEmpty else { return BodyBytes() }
    do throws(CacheError) { return try await blocks.read(range, pieces, on: queue) } catch {
      throw told(error)
    }
  }

  func clone(to path: String) async throws(CacheError) {
    guard let wholeLength else {
      throw CacheError(.unavailable, "only a part of the body is stored")
    }
    let (blocks, pieces) = (blocks, pieces)
    do throws(CacheError) {
      try await queue.run { () throws(CacheError) in
        if !blocks.isVerified(0..<wholeLength) { try blocks.checkAll(pieces) }
        try FileCopy.make(path) { (file) throws(CacheError) in
          try FileCopy.copy(blocks.file, to: file, length: wholeLength)
        }
      }
    } catch { throw told(error) }
  }

  private func told(_ error: CacheError) -> CacheError {
    if error.code == .damaged { onDamage(error) }
    return error
  }
}
