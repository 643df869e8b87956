public import HTTPCacheStore

/// Writes responses as a HAR file (HAR 1.2), which browsers' developer tools and `RecordingSeed` read.
///
/// A body in a content coding is written as it is, in Base64, and marked `_isCoded`: other programs expect the
/// decoded body.
public enum HARWriter {
  /// Writes all responses of a source. The file appears under its name when it is complete; an existing file is then
  /// replaced.
  ///
  /// - Returns: the number of responses written.
  /// - Throws: `CacheError.io`, `CacheError.noSpace`, what reading the source throws.
  @discardableResult
  public static func write(_ source: any SeedSource, to path: String) async throws(CacheError) -> Int {
    let new = try ReplacedFile(path: path)
    var output = try HAROutput(new.file)
    var count = 0
    while true {
      let page = try source.responses(from: count, limit: 64)
      for seed in page {
        for target in [seed.target] + seed.otherTargets {
          try await output.add(
            HAREntry(seed, to: target), body: try seed.body.open(), length: seed.bodyLength)
        }
      }
      count += page.count
      if page.isEmpty { break }
    }
    try output.finish()
    try new.finish()
    return count
  }
}
