import HTTPCacheStore

/// Reads a sealed body that is stored or being written.
final class SealedReader: BodyReader {
  private let growth: SealedGrowth
  private let chunks: SealedChunks?

  /// - Parameter chunks: the chunks of the store below; nil if it gets none.
  init(_ growth: SealedGrowth, _ chunks: SealedChunks?) {
    self.growth = growth
    self.chunks = chunks
  }

  var length: Int64? { growth.snapshot.length }

  var availableRanges: [Range<Int64>] { growth.snapshot.available }

  func read(_ range: Range<Int64>) async throws(CacheError) -> BodyBytes {
    var pieces: [BodyBytes] = []
    var position = range.lowerBound
    reading: while position < range.upperBound {
      let piece: BodyBytes
      switch growth.place(of: position..<range.upperBound) {
      case .nowhere: break reading
      case .bytes(let bytes): piece = bytes
      case .sealed(let place):
        guard let chunks else { break reading }
        piece = try await chunks.read(place, length: growth.snapshot.length)
      }
      guard !piece.isEmpty else { break }
      pieces.append(piece)
      position += Int64(piece.count)
    }
    return BodyBytes(joining: pieces)
  }
}
