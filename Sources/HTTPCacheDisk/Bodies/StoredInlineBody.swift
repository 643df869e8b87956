import HTTPCacheSemantics
import HTTPCacheStore

/// An inline body, read together with its row.
final class StoredInlineBody: StoredBody {
  private let bytes: BodyBytes
  private let checksum: UInt64
  private let queue: WorkQueue
  private let onDamage: @Sendable (CacheError) -> Void

  init(
    bytes: BodyBytes, checksum: UInt64, queue: WorkQueue,
    onDamage: @escaping @Sendable (CacheError) -> Void
  ) {
    self.bytes = bytes
    self.checksum = checksum
    self.queue = queue
    self.onDamage = onDamage
  }

  func open() throws(CacheError) -> any BodyReader {
    guard bytes.withUnsafeBytes({ XXH64.hash($0) }) == checksum else {
      let error = CacheError(.damaged, "the body in the index is not what was written")
      onDamage(error)
      throw error
    }
    return InlineBodyReader(bytes: bytes, queue: queue)
  }
}

/// Reads an inline body, which is in memory as a whole.
final class InlineBodyReader: BodyReader {
  private let bytes: BodyBytes
  private let queue: WorkQueue

  init(bytes: BodyBytes, queue: WorkQueue) {
    self.bytes = bytes
    self.queue = queue
  }

  var length: Int64? { Int64(bytes.count) }

  var availableRanges: [Range<Int64>] { [0..<Int64(bytes.count)] }

  var bytesInMemory: BodyBytes? { bytes }

  var fileRegion: FileRegion? { nil }

  func read(_ range: Range<Int64>) async throws(CacheError) -> BodyBytes {
    let range = range.clamped(to: 0..<Int64(bytes.count))
    return bytes[Int(range.lowerBound)..<Int(range.upperBound)]
  }

  func clone(to path: String) async throws(CacheError) {
    let bytes = bytes
    try await queue.run { () throws(CacheError) in
      try FileCopy.make(path) { (file) throws(CacheError) in
        try bytes.withUnsafeBytes { (buffer) throws(CacheError) in try file.write(buffer, at: 0) }
      }
    }
  }
}
