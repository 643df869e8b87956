public import HTTPCacheStore

extension HTTPCache.Configuration {
  /// Checks that each property has a value that it can have. `HTTPCache.open` does so.
  ///
  /// - Throws: `CacheError` with `invalidValue`, which names the property and the value.
  public func check() throws(CacheError) {
    let sizes = [
      ("memoryCapacity", memoryCapacity), ("diskCapacity", diskCapacity ?? 0),
      ("minimumFreeDiskSpace", minimumFreeDiskSpace ?? 0),
    ]
    for (name, size) in sizes where size < 0 {
      throw CacheError(.invalidValue, "\(name) must not be negative (got \(size) bytes)")
    }
    switch largestEntry {
    case .bytes(let bytes) where bytes < 0:
      throw CacheError(.invalidValue, "largestEntry must not be negative (got \(bytes) bytes)")
    case .share(let share) where !(0...1).contains(share):
      throw CacheError(.invalidValue, "largestEntry must be a share from 0 to 1 (got \(share))")
    case .bytes, .share, .default: break
    }
    if let problem = rules.problem { throw CacheError(.invalidValue, "rules: \(problem)") }
  }
}
