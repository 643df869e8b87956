import HTTPCacheFiles
import HTTPCacheSemantics
import HTTPCacheStore
import Synchronization

/// Writing into the file.
extension DiskBodyWriter {
  func appendClone(
    of descriptor: Int32, length: Int64, see: (BodyBytes) -> Void
  ) async throws(CacheError) -> Bool {
    guard length > NewEntry.inlineLimit, length <= limits.bytes, bytesWritten == 0, record.isComplete else {
      return false
    }
    try file.check()
    let clone: OpenFile?
    do throws(CacheError) {
      clone = try await store.fileQueue.run { () throws(CacheError) -> OpenFile? in
        let file = try self.file.open()
        guard file.shareBlocks(of: descriptor) else { return nil }
        if try file.size() != length { throw CacheError(.io, "the file changed while it was stored") }
        return file
      }
    } catch { throw fail(error) }
    guard let clone else { return false }
    progress.withLock { $0.isCloned = true }
    var position: Int64 = 0
    while position < length {
      let count = Int(min(StoredPieces.blockLength, length - position))
      let bytes: BodyBytes
      do throws(CacheError) {
        bytes = try await store.fileQueue.run { [position] () throws(CacheError) in
          try BodyBytes(unsafeUninitializedCapacity: count) { (buffer) throws(CacheError) in
            try clone.read(into: buffer, at: position)
          }
        }
      } catch { throw fail(error) }
      see(bytes)
      try await append(bytes)
      position += Int64(bytes.count)
      if bytes.isEmpty { break }
    }
    return true
  }

  /// Writes blocks that no longer grow, or all pending bytes, to the file; on a thread of the store.
  func flush(all: Bool) throws(CacheError) {
    let open = try file.open()
    let reader = body.reader(of: open, checksEveryRead: store.options.verification == .everyRead)
    let isCloned = progress.withLock { $0.isCloned }
    while let next = body.nextPiece(all: all) {
      let piece = try joined(next, in: reader)
      if !isCloned {
        try next.bytes.withUnsafeBytes { (buffer) throws(CacheError) in
          try open.write(buffer, at: next.start)
        }
      }
      body.didFlush(next, as: piece)
    }
  }

  /// The piece of new bytes and the stored pieces that they touch in their block. Those are read and checked.
  private func joined(
    _ next: DiskBody.Pending, in reader: BlockReader
  ) throws(CacheError) -> StoredPiece {
    let (before, after) = body.snapshot.pieces.neighbors(of: next.range)
    func bytes(of piece: StoredPiece?) throws(CacheError) -> BodyBytes {
      guard let piece else { return BodyBytes() }
      return try reader.read(piece.range, onlyCached: false) ?? BodyBytes()
    }
    do throws(CacheError) {
      let pieceBytes = [try bytes(of: before), next.bytes, try bytes(of: after)]
      let joined = BodyBytes(joining: pieceBytes.filter { !$0.isEmpty })
      return StoredPiece(
        start: before?.start ?? next.start, end: after?.end ?? next.end,
        checksum: joined.withUnsafeBytes { XXH64.hash($0) })
    } catch {
      if error.code == .damaged { onDamage(error) }
      throw error
    }
  }
}
