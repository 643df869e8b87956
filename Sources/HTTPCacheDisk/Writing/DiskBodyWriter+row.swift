import HTTPCacheFiles
import HTTPCacheSemantics
import HTTPCacheStore
import Synchronization

/// The row of a body that is still being written. The row has the ranges that arrived so far, so that they are found
/// again however the process ends.
extension DiskBodyWriter {
  // The most bytes between two updates of the row.
  private static let mostUnsaved: Int64 = 4 << 20

  /// The row that the body has now; nil if there is none.
  var row: Int64? { extended ?? progress.withLock { $0.isRowLost ? nil : $0.row } }

  /// Reserves the appended bytes that the row does not count.
  func reserve() {
    let saved = progress.withLock { $0.saved }
    file.reserve(max(0, body.snapshot.added - saved))
  }

  /// Inserts or updates the row of a partial body with the bytes in the file, if an update is due. After a failure,
  /// fewer ranges are found if the process crashes.
  ///
  /// - Parameter isLast: whether no more bytes arrive, so that an update is due in any case.
  func saveRow(isLast: Bool = false) async {
    let body = body.snapshot
    let before = progress.withLock { $0 }
    guard extended != nil || record.isResumable, body.flushed > before.saved,
      isLast || !before.isRowLost && body.flushed >= before.due, body.pieces.end <= record.bodyLength ?? .max
    else { return }
    let name = try? await store.reader.fileQueue.run { () throws(CacheError) in self.file.prepareUnfinished()
    }
    progress.withLock { progress in
      if name == nil { progress.isRowLost = true }
      // The interval grows by a quarter of the bytes: few bytes of a short body are lost, and a long body
      // needs few transactions.
      progress.due =
        body.flushed + min(Self.mostUnsaved, max(StoredPieces.blockLength, body.flushed / 4))
    }
    guard let name else { return }
    let end = max(before.savedEnd, body.flushedEnd)
    do throws(CacheError) {
      let id = try await save(body.pieces, changed: before.savedEnd..<end, in: name, of: before.row)
      progress.withLock { progress in
        (progress.row, progress.saved, progress.savedEnd) = (id, body.flushed, end)
      }
    } catch {
      guard error.code == .unavailable else { return }
      progress.withLock { ($0.isRowLost, $0.saved) = (true, 0) }
    }
    reserve()
  }

  /// - Parameters:
  ///   - pieces: all pieces of the body.
  ///   - changed: the range in which these pieces differ from the pieces of the row.
  /// - Returns: the id of the row.
  private func save(
    _ pieces: StoredPieces, changed: Range<Int64>, in name: BodyName, of row: Int64?
  ) async throws(CacheError) -> Int64 {
    guard let row else {
      let entry = try NewEntry(
        record: record.storing(pieces.ranges, bodyLength: record.bodyLength), body: .file(name, pieces),
        variantLimit: .max, predecessor: nil, purpose: .unfinished, bodyFile: file)
      return Int64(bitPattern: try await store.inserter.insert(entry, in: opened).sequence)
    }
    try await store.thread.run(in: opened, for: record.key) { [self] () throws(CacheError) in
      try opened.limitLog()
      try opened.write { (transaction) throws(CacheError) in
        try Self.grow(row, of: name, to: pieces, changed: changed, in: &transaction)
      }
      // Publish the limit before the reservation of the bytes that the row now counts is released.
      if (try? store.evictor.publishLimit(in: opened)) == nil { opened.reservations.setLimit(0) }
    }
    return row
  }

  /// Updates the row.
  ///
  /// - Throws: `CacheError.unavailable` if the row is gone.
  private static func grow(
    _ id: Int64, of file: BodyName, to pieces: StoredPieces, changed: Range<Int64>,
    in transaction: inout Transaction
  ) throws(CacheError) {
    let connection = transaction.connection
    let part = try connection.entry(id)
    guard let row = part?.row, row.isPartial, row.file == file, let stored = part?.record else {
      throw CacheError(.unavailable, "the part is not stored any more")
    }
    let ranges = pieces.ranges
    let encoded = try RecordCodec.encode(stored.storing(ranges, bodyLength: stored.bodyLength))
    let (length, cost) = (StoredRanges.count(ranges), NewEntry.fileCost(ranges))
    try connection.run(
      "UPDATE entry SET record = ?, length = ?, cost = ?, size = ? WHERE id = ?",
      [
        .blob(encoded), .integer(length), .integer(cost),
        .integer(NewEntry.size(encoded: encoded.count, length: length, cost: cost)), .integer(id),
      ])
    try connection.save(pieces, of: id, changed: changed)
    transaction.state.bodies = max(0, transaction.state.bodies + cost - row.cost)
  }
}
