import HTTPCacheSemantics
public import HTTPCacheStore

extension DiskStore {
  /// Begins to store a response; writes nothing yet.
  ///
  /// - Throws: `CacheError.tooLarge`; `CacheError.invalidRequest` for a record that must stay in
  ///   memory; `CacheError.unavailable` if the directory vanished and cannot be made again.
  public func write(
    _ record: CacheRecord, variantLimit: Int
  ) async throws(CacheError) -> any BodyWriter {
    guard !record.isMemoryOnly else {
      throw CacheError(.invalidRequest, "the record must not go to disk", key: record.key)
    }
    let stored =
      record.storedRanges.map { $0.reduce(0) { $0.saturatingAdd($1.upperBound - $1.lowerBound) } }
      ?? record.bodyLength ?? 0
    var limit = currentLimits.longestBody
    if stored > limit { limit = longestBodyNow() }
    guard stored <= limit else {
      throw CacheError(
        .tooLarge, "\(stored) bytes, at most \(limit) are stored", key: record.key)
    }
    var parts = currentParts
    // A small body is asked about again with its row, and can then go elsewhere.
    let isSmall = record.storedRanges == nil && record.bodyLength ?? .max <= NewEntry.inlineLimit
    if !(isSmall ? parts.isDatabaseCurrent : parts.isCurrent) {
      parts = try await indexQueue.run { [self] () throws(CacheError) in try partsToWrite() }
    }
    if parts.currentOwner == nil {
      // Should the process end between a commit and raising the counters, the next one finds the free lock.
      try await fileQueue.run { [parts] in try? parts.becomeOwner() }
    }
    let record = record.with(ticket: record.ticket ?? parts.ticket())
    return try DiskBodyWriter(
      store: self, parts: parts, record: record, limits: (variants: max(1, variantLimit), bytes: limit))
  }
}
