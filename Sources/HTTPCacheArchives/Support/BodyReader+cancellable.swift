import HTTPCacheStore

extension BodyReader {
  /// Reads a range, unless the task was cancelled: writing a large export ends soon, and leaves no file.
  ///
  /// - Throws: `CacheError.cancelled`, what reading throws.
  func readCancellably(_ range: Range<Int64>) async throws(CacheError) -> BodyBytes {
    if Task.isCancelled { throw CacheError(.cancelled, "the task was cancelled") }
    return try await readAll(range)
  }
}
