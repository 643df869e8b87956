import HTTPCacheSemantics
import HTTPCacheStore

/// Reads a sealed body, or the parts of it that are stored.
final class SealedReader: BodyReader {
  private let chunks: SealedChunks
  let length: Int64?
  let availableRanges: [Range<Int64>]
  let bytesInMemory: BodyBytes?

  init(
    _ chunks: SealedChunks, length: Int64?, ranges: [Range<Int64>], bytes: BodyBytes?
  ) {
    self.chunks = chunks
    self.length = length
    availableRanges = ranges.filter { !$0.isEmpty }
    bytesInMemory = bytes
  }

  func read(_ range: Range<Int64>) async throws(CacheError) -> BodyBytes {
    guard let stored = availableRanges.first(where: { $0.contains(range.lowerBound) }) else {
      return BodyBytes()
    }
    let wanted = range.clamped(to: stored)
    if wanted.isEmpty { return BodyBytes() }
    if let bytesInMemory { return bytesInMemory[Int(wanted.lowerBound)..<Int(wanted.upperBound)] }
    return try await chunks.read(wanted, length: length)
  }
}
