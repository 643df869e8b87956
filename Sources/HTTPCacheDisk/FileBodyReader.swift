import HTTPCacheStore

/// Reads a body from its file.
final class FileBodyReader: BodyReader {
  private let blocks: BlockReader
  private let checksums: BlockChecksums
  private let extent: StoredExtent
  private let queue: WorkQueue
  private let onDamage: @Sendable (CacheError) -> Void

  init(
    blocks: BlockReader, checksums: BlockChecksums, extent: StoredExtent, queue: WorkQueue,
    onDamage: @escaping @Sendable (CacheError) -> Void
  ) {
    self.blocks = blocks
    self.checksums = checksums
    self.extent = extent
    self.queue = queue
    self.onDamage = onDamage
  }

  var length: Int64? { extent.bodyLength }

  var availableRanges: [Range<Int64>] { extent.ranges }

  var bytesInMemory: BodyBytes? { nil }

  var fileRegion: FileRegion? {
    guard extent.ranges.count == 1, extent.bodyLength == extent.storedLength else { return nil }
    return FileRegion(
      descriptor: blocks.file.descriptor, offset: 0, count: extent.storedLength,
      isVerified: blocks.isVerified(0..<extent.storedLength))
  }

  func isVerified(_ range: Range<Int64>) -> Bool {
    guard let place = extent.place(of: range), place.count == range.count else { return false }
    return blocks.isVerified(place)
  }

  func read(_ range: Range<Int64>) async throws(CacheError) -> BodyBytes {
    guard let place = extent.place(of: range) else { return BodyBytes() }
    do throws(CacheError) {
      if let bytes = try blocks.read(
        place, length: extent.storedLength, checksums: checksums, onlyCached: true)
      {
        return bytes
      }
      let (blocks, checksums, length) = (blocks, checksums, extent.storedLength)
      return try await queue.run { () throws(CacheError) in
        try blocks.read(place, length: length, checksums: checksums, onlyCached: false)
          ?? BodyBytes()
      }
    } catch {
      if error.code == .damaged { onDamage(error) }
      throw error
    }
  }

  func clone(to path: String) async throws(CacheError) {
    guard extent.bodyLength == extent.storedLength else {
      throw CacheError(.unavailable, "only a part of the body is stored")
    }
    let (blocks, checksums, length) = (blocks, checksums, extent.storedLength)
    do throws(CacheError) {
      try await queue.run { () throws(CacheError) in
        try blocks.checkAll(length: length, checksums: checksums)
        try FileCopy.make(path) { (file) throws(CacheError) in
          try FileCopy.copy(blocks.file, to: file, length: length)
        }
      }
    } catch {
      if error.code == .damaged { onDamage(error) }
      throw error
    }
  }
}
