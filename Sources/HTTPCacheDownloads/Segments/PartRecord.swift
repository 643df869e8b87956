import HTTPCacheStore

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

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
  var boot: String = PartRecord.currentBoot

  /// The bytes that can be relied on. What an earlier run of the system wrote and did not sync may be lost.
  var kept: [Range<Int64>] { boot == Self.currentBoot ? written : synced }

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

  /// Differs after each start of the system; empty if it is unknown.
  static let currentBoot: String = {
    #if canImport(Darwin)
      var bytes = [UInt8](repeating: 0, count: 64)
      var count = bytes.count
      guard sysctlbyname("kern.bootsessionuuid", &bytes, &count, nil, 0) == 0 else { return "" }
      return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    #else
      let descriptor = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
      guard descriptor >= 0 else { return "" }
      defer { close(descriptor) }
      var bytes = [UInt8](repeating: 0, count: 64)
      let count = read(descriptor, &bytes, bytes.count)
      return String(decoding: bytes.prefix(max(0, count)).prefix { $0 > 0x20 }, as: UTF8.self)
    #endif
  }()
}
