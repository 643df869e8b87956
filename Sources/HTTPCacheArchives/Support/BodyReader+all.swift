import HTTPCacheStore

extension BodyReader {
  /// All bytes of a range; a reader may return less than asked.
  ///
  /// - Throws: `CacheError.damaged` if the body ends before, what reading throws.
  func readAll(_ range: Range<Int64>) async throws(CacheError) -> BodyBytes {
    var pieces: [BodyBytes] = []
    var start = range.lowerBound
    while start < range.upperBound {
      let piece = try await read(start..<range.upperBound)
      guard !piece.isEmpty else { throw CacheError(.damaged, "the body ends at byte \(start)") }
      pieces.append(piece)
      start += Int64(piece.count)
    }
    return pieces.count == 1 ? pieces[0] : BodyBytes(joining: pieces)
  }
}
