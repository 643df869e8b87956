import HTTPCacheStore

/// The positions of the chunks of a sealed body: each has a slot of 64 KiB, the last one a shorter slot. Four
/// slots are a checksum block of the store below, so a chunk is never in two blocks.
struct SealedLayout: Sendable {
  /// Bytes of a sealed chunk.
  static let slot: Int64 = 64 << 10
  /// The largest position of a byte in a body, so that computing positions cannot overflow.
  static let farthest: Int64 = 1 << 59
  /// The allowed overheads of a cipher: a shorter tag would authenticate too little, a longer one would fill
  /// the slots.
  static let overheads = 16...1_024

  /// The bytes that sealing adds to a chunk.
  let overhead: Int

  init(_ cipher: any CacheCipher) { overhead = cipher.overhead }

  init(overhead: Int) { self.overhead = overhead }

  /// The number of body bytes in one chunk.
  var chunk: Int64 { Self.slot - Int64(overhead) }

  /// The number of chunks of a body. An empty body has an empty chunk, so that no other body can be cut to
  /// nothing.
  func chunkCount(of length: Int64) -> Int64 {
    max(1, (min(length, Self.farthest) + chunk - 1) / chunk)
  }

  /// The length of a body after sealing.
  func sealedLength(of length: Int64) -> Int64 {
    let length = min(max(0, length), Self.farthest)
    return length + Int64(overhead) * chunkCount(of: length)
  }

  /// The body bytes in a chunk.
  ///
  /// - Parameter length: the length of the body, if known.
  func bytes(of index: Int64, length: Int64?) -> Range<Int64> {
    let start = index * chunk
    return start..<max(start, min(start + chunk, length ?? .max))
  }

  /// Whether a chunk is the last one.
  func isLast(_ index: Int64, length: Int64?) -> Bool {
    length.map { index == chunkCount(of: $0) - 1 } ?? false
  }

  /// The chunks that are completely within a range of a body.
  ///
  /// While the length is unknown, the chunk that ends with the range may be the last one of the body, and
  /// does not count.
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

  /// The positions of consecutive chunks.
  func slots(of chunks: Range<Int64>, length: Int64?) -> Range<Int64> {
    guard let last = chunks.last else { return 0..<0 }
    let end = last * Self.slot + Int64(bytes(of: last, length: length).count + overhead)
    return chunks.lowerBound * Self.slot..<end
  }

  /// The body bytes whose chunks are completely stored.
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
