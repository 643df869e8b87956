import HTTPCacheSemantics

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

  /// Nil, because the bytes in a file are sealed.
  var fileRegion: FileRegion? { nil }

  func read(_ range: Range<Int64>) async throws(CacheError) -> BodyBytes {
    guard let stored = availableRanges.first(where: { $0.contains(range.lowerBound) }) else {
      return BodyBytes()
    }
    let wanted = range.clamped(to: stored)
    if wanted.isEmpty { return BodyBytes() }
    if let bytesInMemory { return bytesInMemory[Int(wanted.lowerBound)..<Int(wanted.upperBound)] }
    return try await chunks.read(wanted, length: length)
  }

  /// Writes the decrypted body to a new file.
  func clone(to path: String) async throws(CacheError) {
    guard let length, availableRanges == (length == 0 ? [] : [0..<length]) else {
      throw CacheError(.unavailable, "only a part of the body is stored, so it cannot be cloned")
    }
    try await NewFile.make(at: path, length: length) { (range) throws(CacheError) in
      try await self.read(range)
    }
  }
}
