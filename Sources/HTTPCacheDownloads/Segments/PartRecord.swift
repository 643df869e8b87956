import HTTPCacheStore

/// The ranges that have arrived of a file that is received into its part file. It is in the list.
struct PartRecord: Sendable, Hashable {
  /// The part file; another file of its name has none of these bytes.
  var inode: UInt64
  /// The length of the representation in bytes.
  var length: Int64
  /// The bytes that were written: ascending, apart.
  var written: [Range<Int64>] = []
  /// The written bytes that are on the disk, also after a power loss.
  var synced: [Range<Int64>] = []
  /// Names the run of the system that wrote them.
  var boot: String = SystemRun.name

  /// The bytes that can be relied on. What an earlier run of the system wrote and did not sync may be lost.
  var kept: [Range<Int64>] { boot == SystemRun.name ? written : synced }

  var isComplete: Bool { StoredRanges.count(written) == length }

  /// The bytes that are not in `ranges`, of a file of a length.
  static func missing(_ ranges: [Range<Int64>], of length: Int64) -> [Range<Int64>] {
    var (missing, end): ([Range<Int64>], Int64) = ([], 0)
    for range in ranges {
      if range.lowerBound > end { missing.append(end..<range.lowerBound) }
      end = max(end, range.upperBound)
    }
    if end < length { missing.append(end..<length) }
    return missing
  }
}
