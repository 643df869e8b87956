/// Where the chunks of a sealed body lie: each in a slot of 64 KiB, the last one in a shorter slot. So
/// four of them are a block of the checksums below, and a chunk never lies in two.
struct SealedLayout: Sendable {
  /// Bytes of a sealed chunk.
  static let slot: Int64 = 64 << 10
  /// No byte of a body lies beyond this, so that places can be reckoned with.
  static let farthest: Int64 = 1 << 59
  /// What the overhead of a cipher may be: a shorter tag would authenticate too little, and more would
  /// make slots of little else.
  static let overheads = 16...1_024

  /// Bytes by which what is sealed is longer.
  let overhead: Int

  init(_ cipher: any CacheCipher) { overhead = cipher.overhead }

  init(overhead: Int) { self.overhead = overhead }

  /// Bytes of a body in one chunk.
  var chunk: Int64 { Self.slot - Int64(overhead) }

  /// How many chunks a body has. An empty one has an empty chunk, so that it cannot be made of another.
  func chunkCount(of length: Int64) -> Int64 {
    max(1, (min(length, Self.farthest) + chunk - 1) / chunk)
  }

  /// How long a body is when it is sealed.
  func sealedLength(of length: Int64) -> Int64 {
    let length = min(max(0, length), Self.farthest)
    return length + Int64(overhead) * chunkCount(of: length)
  }

  /// The bytes of a body in a chunk.
  ///
  /// - Parameter length: of the body, if it is known.
  func bytes(of index: Int64, length: Int64?) -> Range<Int64> {
    let start = index * chunk
    return start..<max(start, min(start + chunk, length ?? .max))
  }

  /// Where a chunk lies.
  func slot(of index: Int64, length: Int64?) -> Range<Int64> {
    let bytes = bytes(of: index, length: length)
    let start = index * Self.slot
    return start..<start + bytes.upperBound - bytes.lowerBound + Int64(overhead)
  }

  /// Whether a chunk is the last one.
  func isLast(_ index: Int64, length: Int64?) -> Bool {
    length.map { index == chunkCount(of: $0) - 1 } ?? false
  }

  /// The chunks that lie wholly in a range of a body.
  ///
  /// As long as the length is not known, the chunk that ends with the range may be the last one of the
  /// body, and does not count.
  func chunks(in range: Range<Int64>, length: Int64?) -> Range<Int64> {
    let first = (range.lowerBound + chunk - 1) / chunk
    let end: Int64
    if let length {
      end = range.upperBound >= length ? chunkCount(of: length) : range.upperBound / chunk
    } else {
      end = max(0, range.upperBound - 1) / chunk
    }
    return first..<max(first, end)
  }

  /// Where such chunks lie.
  func slots(of chunks: Range<Int64>, length: Int64?) -> Range<Int64> {
    guard !chunks.isEmpty else { return 0..<0 }
    let start = chunks.lowerBound * Self.slot
    return start..<self.slot(of: chunks.upperBound - 1, length: length).upperBound
  }

  /// The bytes of a body of which the sealed form is there: those of whole chunks.
  ///
  /// - Parameter slots: ranges of the sealed form.
  func bytes(in slots: [Range<Int64>], length: Int64?) -> [Range<Int64>] {
    let end = length.map { sealedLength(of: $0) }
    return StoredRanges.union(
      slots.compactMap { range in
        let first = (range.lowerBound + Self.slot - 1) / Self.slot
        var count = range.upperBound / Self.slot
        if let length, let end, range.upperBound >= end { count = chunkCount(of: length) }
        guard count > first else { return nil }
        return first * chunk..<bytes(of: count - 1, length: length).upperBound
      })
  }
}
