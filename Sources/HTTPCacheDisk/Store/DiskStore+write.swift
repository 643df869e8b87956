import HTTPCacheFiles
import HTTPCacheSemantics
public import HTTPCacheStore

extension DiskStore {
  /// Begins to store a response. Nothing is written yet.
  ///
  /// - Throws: `CacheError.tooLarge`; `CacheError.invalidRequest` for a record that must not be written to
  ///   disk; `CacheError.unavailable` if the directory was removed and cannot be made again.
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
    var opened = currentDirectory
    if !opened.isCurrent {
      opened = try await indexQueue.run { [self] () throws(CacheError) in try directoryToWrite() }
    }
    let record = record.with(ticket: record.ticket ?? opened.generations.ticket())
    return try DiskBodyWriter(
      store: self, opened: opened, record: record, limits: (variants: max(1, variantLimit), bytes: limit))
  }
}
