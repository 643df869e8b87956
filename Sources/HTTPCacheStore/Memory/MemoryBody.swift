/// A stored body in memory. Opening it is free: it is its own reader.
package final class MemoryBody: StoredBody, BodyReader {
  /// The stored bytes in one piece.
  package let bytes: BodyBytes
  package let length: Int64?
  private let ranges: [Range<Int64>]?

  package init(_ bytes: BodyBytes, record: CacheRecord) {
    self.bytes = bytes
    ranges = record.storedRanges
    length = record.bodyLength
  }

  package func open() throws(CacheError) -> any BodyReader { self }

  package var availableRanges: [Range<Int64>] {
    StoredRanges.prefix(ranges ?? [0..<Int64(bytes.count)], count: Int64(bytes.count))
  }

  package var bytesInMemory: BodyBytes? { ranges == nil ? bytes : nil }

  package func read(_ range: Range<Int64>) async throws(CacheError) -> BodyBytes { self.bytes(range) }

  /// The bytes from the start of `range` to its end or the first gap.
  func bytes(_ range: Range<Int64>) -> BodyBytes {
    let count = Int64(bytes.count)
    return bytes[StoredRanges.place(of: range, in: ranges ?? [0..<count], count: count)]
  }
}
