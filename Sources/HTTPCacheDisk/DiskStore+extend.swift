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
      var (row, stored) = try partialRow(of: record, parts)
      if row.file == nil {
        try moveToFile(row, stored, parts)
        row = try partialRow(of: record, parts).row
      }
      guard let name = row.file, let lock = BodyLock(name, in: parts.directory) else {
        throw CacheError(.unavailable, "somebody else is adding to it", key: record.key)
      }
      do throws(CacheError) {
        // It may have grown, or gone, until the lock was taken.
        stored = try partialRow(of: record, parts).record
        return try writer(record, over: stored, row.id, name, lock, at: offset, limit, parts)
      } catch {
        parts.removeIfOrphaned(name)
        if error.code == .damaged { bodyContext(parts).onDamage(row.id, error) }
        throw error
      }
    }
  }

  private func writer(
    _ record: CacheRecord, over stored: CacheRecord, _ id: Int64, _ name: BodyName,
    _ lock: BodyLock, at offset: Int64, _ limit: Int64, _ parts: StoreParts
  ) throws(CacheError) -> DiskPartWriter {
    guard !StoredRanges.isFull(stored.storedRanges ?? [], at: offset),
      offset <= DiskPartWriter.farthest
    else { throw CacheError(.tooLarge, "too many parts, or too far away", key: record.key) }
    if let announced = record.bodyLength,
      announced != stored.bodyLength ?? announced || announced < stored.storedRanges?.last?.upperBound ?? 0
    {
      throw CacheError(
        .unavailable, "what is stored is not of a body of \(announced) bytes", key: record.key)
    }
    var pieces = try parts.index.read { (connection) throws(CacheError) in
      try StoredPieces.load(connection, entry: id)
    }
    guard let file = try parts.directory.openBody(name, flags: O_RDWR),
      pieces.ranges == stored.storedRanges, try file.size() >= pieces.end
    else {
      // If it was removed just now, that is no damage.
      _ = try partialRow(of: record, parts)
      throw CacheError(.damaged, "parts of the body are missing", key: record.key)
    }
    if pieces.isFragmented {
      pieces = try join(pieces, of: id, in: file, parts)
    }
    return DiskPartWriter(
      store: self, parts: parts,
      record: record.storing(
        stored.storedRanges, bodyLength: stored.bodyLength ?? record.bodyLength),
      extending: DiskPartWriter.Stored(id: id, name: name, file: file, lock: lock, pieces: pieces),
      at: offset, limit: limit)
  }

  /// Keeps the number of rows within that of blocks and ranges. Who has the file open reads on.
  private func join(
    _ pieces: StoredPieces, of id: Int64, in file: OpenFile, _ parts: StoreParts
  ) throws(CacheError) -> StoredPieces {
    let joined = try PieceReader(file: file, verification: verification).joined(pieces)
    try parts.index.write { (connection) throws(CacheError) in
      try connection.run("DELETE FROM piece WHERE entry = ?", [.integer(id)])
      try StoredPieces.insert(joined.list, entry: id, connection)
    }
    return joined
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

  /// Gives a small part a file of its own, so that it can grow.
  private func moveToFile(
    _ row: EntryRow, _ record: CacheRecord, _ parts: StoreParts
  ) throws(CacheError) {
    let bytes = try inlineBody(of: row, record, parts)
    let file = BodyFile(store: self, parts: parts)
    do throws(CacheError) {
      let open = try file.open()
      var pieces: [StoredPiece] = []
      var offset = 0
      for range in record.storedRanges ?? [] {
        var start = range.lowerBound
        while start < range.upperBound {
          let blockEnd = (start / BlockChecksums.blockLength + 1) * BlockChecksums.blockLength
          let end = min(range.upperBound, blockEnd)
          let part = bytes[offset..<offset + Int(end - start)]
          try part.withUnsafeBytes { (buffer) throws(CacheError) in
            try open.write(buffer, at: start)
            pieces.append(
              StoredPiece(start: start, end: end, checksum: XXH64.hash(buffer)))
          }
          offset += Int(end - start)
          start = end
        }
      }
      try setFile(of: row, record, try file.publish(), pieces, parts)
      file.end(.stored)
    } catch {
      file.end(.discarded)
      throw error
    }
  }

  private func inlineBody(
    of row: EntryRow, _ record: CacheRecord, _ parts: StoreParts
  ) throws(CacheError) -> BodyBytes {
    let ranges = record.storedRanges ?? []
    let bytes = try parts.index.read { (connection) throws(CacheError) in
      var found: BodyBytes?
      try connection.query(
        "SELECT body, checksum FROM entry WHERE id = ? AND file IS NULL", [.integer(row.id)]
      ) { column in
        let blob = column.blob(0)
        if XXH64.hash(blob) == column.hash(1) { found = BodyBytes(blob) }
        return false
      }
      return found
    }
    guard let bytes, Int64(bytes.count) == StoredRanges.count(ranges),
      ranges.last?.upperBound ?? 0 <= DiskPartWriter.farthest
    else {
      let error = CacheError(
        .unavailable, "the part in the index is not what was written", key: record.key)
      bodyContext(parts).onDamage(row.id, error)
      throw error
    }
    return bytes
  }

  private func setFile(
    of row: EntryRow, _ record: CacheRecord, _ name: BodyName, _ pieces: [StoredPiece],
    _ parts: StoreParts
  ) throws(CacheError) {
    let cost = NewEntry.fileCost(record.storedRanges ?? [])
    try parts.index.write { (connection) throws(CacheError) in
      let changed = try connection.run(
        """
        UPDATE entry SET file = ?, body = NULL, checksum = 0, cost = ?,
        size = size - length + ? WHERE id = ? AND partial = 1 AND file IS NULL
        """, [.text(name.path), .integer(cost), .integer(cost), .integer(row.id)])
      guard changed == 1 else {
        throw CacheError(.unavailable, "somebody else is adding to it", key: record.key)
      }
      try StoredPieces.insert(pieces, entry: row.id, connection)
      var state = try IndexState(connection)
      state.bodies += cost
      try state.save(connection)
    }
  }
}
