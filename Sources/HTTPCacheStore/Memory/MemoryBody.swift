/// A stored body in memory. Opening it is free: it is its own reader.
package final class MemoryBody: StoredBody, BodyReader {
  /// The stored bytes in one piece.
  package let bytes: BodyBytes
  package let length: Int64?
  private let slices: BodySlices

  package init(_ bytes: BodyBytes, record: CacheRecord) {
    self.bytes = bytes
    slices = BodySlices(ranges: record.storedRanges)
    length = record.bodyLength
  }

  package func open() throws(CacheError) -> any BodyReader { self }

  package var availableRanges: [Range<Int64>] { slices.available(count: Int64(bytes.count)) }

  package var bytesInMemory: BodyBytes? { slices.ranges == nil ? bytes : nil }

  package func read(_ range: Range<Int64>) async throws(CacheError) -> BodyBytes { self.bytes(range) }

  /// The bytes from the start of `range` to its end or the first gap.
  func bytes(_ range: Range<Int64>) -> BodyBytes {
    bytes[slices.place(of: range, count: Int64(bytes.count))]
  }
}
