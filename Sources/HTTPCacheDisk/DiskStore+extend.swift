import HTTPCacheSemantics
public import HTTPCacheStore

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

extension DiskStore {
  /// Begins to add to a stored part of a response.
  ///
  /// - Throws: `CacheError.unavailable` if it is not stored, is complete, of a body of another length, or
  ///   if somebody is adding to it; `CacheError.tooLarge` for one part too many, `CacheError.damaged`,
  ///   `CacheError.io`.
  public func extend(
    _ record: CacheRecord, at offset: Int64
  ) async throws(CacheError) -> any BodyWriter {
    let limit = currentLimits.longestBody
    return try await onIndex { [self] (parts) throws(CacheError) in
      let record = record.with(ticket: record.ticket ?? parts.ticket())
      // Whoever dies while adding leaves a lock by which others know of it.
      try parts.becomeOwner()
      guard let name = try partialRow(of: record, parts).row.file,
        let lock = BodyLock(name, in: parts.directory)
      else { throw CacheError(.unavailable, "another writer adds to this part", key: record.key) }
      do throws(CacheError) {
        // It may have grown, or gone, until the lock was taken.
        let stored = try partialRow(of: record, parts).record
        return try DiskBodyWriter(
          store: self, parts: parts,
          record: record.storing(stored.storedRanges, bodyLength: stored.bodyLength ?? record.bodyLength),
          limits: (variants: .max, bytes: limit),
          adding: (try part(record, as: stored, name, lock, at: offset, parts), offset))
      } catch {
        parts.removeIfOrphaned(name)
        if error.code == .damaged {
          bodyContext(parts).onDamage(Int64(bitPattern: record.sequence), error)
        }
        throw error
      }
    }
  }

  private func part(
    _ record: CacheRecord, as stored: CacheRecord, _ name: BodyName, _ lock: BodyLock, at offset: Int64,
    _ parts: StoreParts
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
    let pieces = try parts.index.read { (connection) throws(CacheError) in
      try StoredPieces.load(connection, entry: id, wholeLength: nil)
    }
    guard let file = try parts.directory.openBody(name, flags: O_RDWR),
      pieces.ranges == ranges, try file.size() >= pieces.end
    else {
      // If it was removed just now, that is no damage.
      _ = try partialRow(of: record, parts)
      throw CacheError(.damaged, "parts of the body are missing", key: record.key)
    }
    return DiskBodyWriter.Stored(id: id, name: name, file: file, lock: lock, pieces: pieces)
  }

  /// - Throws: `CacheError.unavailable` if no part of it is stored.
  private func partialRow(
    of record: CacheRecord, _ parts: StoreParts
  ) throws(CacheError) -> (row: EntryRow, record: CacheRecord) {
    let id = Int64(bitPattern: record.sequence)
    let clause = SelectionClause(.key(record.key), parts.hashes)
    return try parts.index.read { (connection) throws(CacheError) in
      let row = try EntryRow.find(
        "id = ? AND partial = 1 AND \(clause.sql)", [.integer(id)] + clause.values, connection
      ).first
      guard let row, try RowMark(of: id, connection)?.isRemoved == false else {
        throw CacheError(.unavailable, "no part of it is stored", key: record.key)
      }
      return (row, try Self.record(of: id, connection))
    }
  }
}
