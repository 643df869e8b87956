extension BodyBytes {
  /// Joins pieces into one.
  package init(joining pieces: [BodyBytes]) {
    if let first = pieces.first, pieces.count == 1 {
      self = first
      return
    }
    let count = pieces.reduce(0) { $0 + $1.count }
    self.init(unsafeUninitializedCapacity: count) { buffer in
      var start = 0
      for piece in pieces {
        piece.withUnsafeBytes { source in
          UnsafeMutableRawBufferPointer(rebasing: buffer[start...]).copyMemory(from: source)
        }
        start += piece.count
      }
      return count
    }
  }
}
