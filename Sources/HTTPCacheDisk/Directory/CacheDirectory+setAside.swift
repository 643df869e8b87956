#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Indexes that were found damaged and are kept for analysis.
extension CacheDirectory {
  private static let setAsideNames = (1...2).flatMap {
    ["\(databaseName).damaged-\($0)", "\(databaseName).damaged-\($0)-wal"]
  }

  /// Bytes of these files.
  var setAsideBytes: Int64 { Self.setAsideNames.reduce(0) { $0 + size(of: $1) } }

  func removeSetAside() { for name in Self.setAsideNames { unlinkat(root.descriptor, name, 0) } }
}
