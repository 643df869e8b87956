import HTTPCacheFiles
import HTTPCacheSemantics
public import HTTPCacheStore

extension DiskStore {
  /// Begins to add bytes to a stored partial body.
  ///
  /// - Throws: `CacheError.unavailable` if the response is not stored, is complete, has a body of another
  ///   length, or if another writer is adding to it; `CacheError.tooLarge` if the body has too many parts,
  ///   `CacheError.damaged`, `CacheError.io`.
  public func extend(
    _ record: CacheRecord, at offset: Int64
  ) async throws(CacheError) -> any BodyWriter {
    let limit = currentLimits.longestBody
    return try await onIndex { [self] (opened) throws(CacheError) in
      let record = record.with(ticket: record.ticket ?? opened.generations.ticket())
      // If this process ends while adding bytes, other processes find its free owner lock.
      try opened.ownership.become()
      guard let name = try stored(record, opened).row.file,
        let lock = BodyLock(name, in: opened.directory)
      else { throw CacheError(.unavailable, "another writer adds to this part", key: record.key) }
      do throws(CacheError) {
        // Read the row again: another process may have changed or removed it before the lock was taken.
        let stored = try stored(record, opened).record
        return try DiskBodyWriter(
          store: self, opened: opened,
          record: record.storing(stored.storedRanges, bodyLength: stored.bodyLength ?? record.bodyLength),
          limits: (variants: .max, bytes: limit),
          adding: (try part(record, as: stored, name, lock, at: offset, opened), offset))
      } catch {
        opened.removeIfOrphaned(name)
        if error.code == .damaged {
          bodyContext(opened).onDamage(Int64(bitPattern: record.sequence), error)
        }
        throw error
      }
    }
  }

  private func part(
    _ record: CacheRecord, as stored: CacheRecord, _ name: BodyName, _ lock: BodyLock, at offset: Int64,
    _ opened: OpenDirectory
  ) throws(CacheError) -> DiskBodyWriter.Stored {
    let ranges = stored.storedRanges ?? []
    guard !StoredRanges.isFull(ranges, at: offset), offset <= StoredPieces.farthest
    else { throw CacheError(.tooLarge, "too many parts, or too far away", key: record.key) }
    if let announced = record.bodyLength,
      announced != stored.bodyLength ?? announced || announced < ranges.last?.upperBound ?? 0
    {
      throw CacheError(
        .unavailable, "what is stored is not of a body of \(announced) bytes", key: record.key)
    }
    let id = Int64(bitPattern: record.sequence)
    let pieces = try opened.index.read { (connection) throws(CacheError) in
      try StoredPieces.load(connection, entry: id, wholeLength: nil)
    }
    guard let file = try opened.directory.openBody(name, flags: OpenFile.writing)?.file,
      pieces.ranges == ranges, try file.size() >= pieces.end
    else {
      // If the row was removed a moment ago, that is no damage.
      _ = try self.stored(record, opened)
      throw CacheError(.damaged, "parts of the body are missing", key: record.key)
    }
    return DiskBodyWriter.Stored(id: id, name: name, file: file, lock: lock, pieces: pieces)
  }

  /// - Throws: `CacheError.unavailable` if no part of the body is stored.
  private func stored(
    _ record: CacheRecord, _ opened: OpenDirectory
  ) throws(CacheError) -> (row: EntryRow, record: CacheRecord) {
    try opened.index.read { (connection) throws(CacheError) in
      guard let part = try StoredEntry.part(of: record, connection), let stored = part.record else {
        throw CacheError(.unavailable, "no part of it is stored", key: record.key)
      }
      return (part.row, stored)
    }
  }
}
