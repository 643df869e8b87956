import HTTPCacheSemantics
import HTTPCacheStore

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A small body, read with its row.
final class StoredInlineBody: StoredBody {
  private let bytes: BodyBytes
  private let checksum: UInt64
  private let extent: StoredExtent
  private let queue: WorkQueue
  private let onDamage: @Sendable (CacheError) -> Void

  init(
    bytes: BodyBytes, checksum: UInt64, extent: StoredExtent, queue: WorkQueue,
    onDamage: @escaping @Sendable (CacheError) -> Void
  ) {
    self.bytes = bytes
    self.checksum = checksum
    self.extent = extent
    self.queue = queue
    self.onDamage = onDamage
  }

  func open() throws(CacheError) -> any BodyReader {
    guard Int64(bytes.count) == extent.storedLength, extent.isConsistent,
      bytes.withUnsafeBytes({ XXH64.hash($0) }) == checksum
    else {
      let error = CacheError(.damaged, "the body in the index is not what was written")
      onDamage(error)
      throw error
    }
    return MemoryBodyReader(bytes: bytes, extent: extent, queue: queue)
  }
}

/// Reads a body that is in memory as a whole.
final class MemoryBodyReader: BodyReader {
  private let bytes: BodyBytes
  private let extent: StoredExtent
  private let queue: WorkQueue

  init(bytes: BodyBytes, extent: StoredExtent, queue: WorkQueue) {
    self.bytes = bytes
    self.extent = extent
    self.queue = queue
  }

  var length: Int64? { extent.bodyLength }

  var availableRanges: [Range<Int64>] { extent.ranges }

  var bytesInMemory: BodyBytes? { extent.bodyLength == extent.storedLength ? bytes : nil }

  var fileRegion: FileRegion? { nil }

  func read(_ range: Range<Int64>) async throws(CacheError) -> BodyBytes {
    guard let place = extent.place(of: range) else { return BodyBytes() }
    return bytes[Int(place.lowerBound)..<Int(place.upperBound)]
  }

  func clone(to path: String) async throws(CacheError) {
    guard let bytes = bytesInMemory else {
      throw CacheError(.unavailable, "only a part of the body is stored")
    }
    try await queue.run { () throws(CacheError) in
      try FileCopy.make(path) { (file) throws(CacheError) in
        try bytes.withUnsafeBytes { (buffer) throws(CacheError) in try file.write(buffer, at: 0) }
      }
    }
  }
}
