import HTTPCacheFiles
public import HTTPCacheStore
import Synchronization

extension DiskStore {
  /// Adds to the persistent counters. The next batch writes them.
  public func count(_ counts: CacheCounts) {
    addToBatch { batch in
      batch.counts += counts
      batch.countedSince += 1
    }
  }

  /// The persistent counters.
  ///
  /// - Throws: `CacheError`.
  public func counts() async throws(CacheError) -> CacheCounts {
    try await onIndex { [self] (opened) throws(CacheError) in
      try writeBatch(opened)
      return try opened.index.withWriter { (connection) throws(CacheError) in
        var counts = CacheCounts()
        try connection.query(
          """
          SELECT hits, validated, misses, stores, evictions, hitBytes, originBytes FROM counts
          """
        ) { row in
          // Limit each counter: sums with a damaged value must not overflow.
          func count(_ column: Int32) -> Int64 { max(0, min(row.integer(column), 1 << 60)) }
          counts = CacheCounts(
            hits: count(0), validated: count(1), misses: count(2), stores: count(3),
            evictions: count(4), hitBytes: count(5), originBytes: count(6))
          return false
        }
        return counts
      }
    }
  }

  /// Writes the batch and makes a checkpoint.
  public func flush() async {
    _ = try? await onIndex { [self] (opened) throws(CacheError) in
      try writeBatch(opened)
      try opened.index.truncateLog(waiting: true)
    }
  }

  /// Writes the batch and closes the connections to the index. Later calls throw `CacheError.closed`.
  ///
  /// If a store is released without this call, changes in the batch since the last flush are lost, and the
  /// thread that releases the store closes the connections.
  public func close() async {
    await flush()
    _ = try? await onIndex { (opened) throws(CacheError) in opened.index.close() }
  }

  /// Adds changes to the batch, and has the index thread write the batch if it is large.
  func addToBatch(_ change: (inout PendingChanges) -> Void) {
    guard batch.add(change) else { return }
    indexQueue.submit { [weak self] in
      guard let self else { return }
      _ = try? writeBatch(currentDirectory)
      batch.didWrite()
    }
  }

  /// Writes uses, counts and refusals in one transaction.
  func writeBatch(_ opened: OpenDirectory) throws(CacheError) {
    let taken = batch.take()
    guard !taken.isEmpty else { return }
    do throws(CacheError) {
      try opened.index.write { (connection) throws(CacheError) in
        try applyBatch(taken, opened.hashes, connection)
      }
    } catch {
      batch.putBack(taken)
      throw error
    }
  }

  /// The time after which a use is written although it does not change the priority, in seconds. An entry that is
  /// used all the time would be written with each batch otherwise.
  private static let touchInterval: Int64 = 60

  /// Writes uses, counts and refusals within a transaction.
  func applyBatch(
    _ taken: PendingChanges, _ hashes: RowHashes, _ connection: SQLiteConnection
  ) throws(CacheError) {
    for (hash, time) in taken.touches {
      let rows = try EntryRow.find("hash = ? LIMIT \(StoredEntry.mostOfHash)", [.hash(hash)], connection)
      for row in rows {
        let priority = policy.priority(ofHash: hash, size: row.size)
        guard priority != row.priority || row.touched <= time - Self.touchInterval else { continue }
        try connection.run(
          "UPDATE entry SET touched = max(touched, ?), priority = ? WHERE id = ?",
          [.integer(time), .real(priority), .integer(row.id)])
      }
    }
    try Self.write(taken.refusals.notes, hashes, connection)
    guard taken.countedSince > 0 else { return }
    let counts = taken.counts
    try connection.run(
      """
      UPDATE counts SET hits = hits + ?, validated = validated + ?, misses = misses + ?,
      stores = stores + ?, evictions = evictions + ?, hitBytes = hitBytes + ?,
      originBytes = originBytes + ?
      """,
      [
        .integer(counts.hits), .integer(counts.validated), .integer(counts.misses),
        .integer(counts.stores), .integer(counts.evictions), .integer(counts.hitBytes),
        .integer(counts.originBytes),
      ])
  }
}
