#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

enum FreeSpaceOnDisk {
  /// The bytes that this user may still write on the file system of a folder; nil if unknown.
  static func bytes(of folder: String) -> Int64? {
    var status = statvfs()
    guard statvfs(folder, &status) == 0 else { return nil }
    let (bytes, overflow) = Int64(clamping: status.f_bavail)
      .multipliedReportingOverflow(by: Int64(clamping: status.f_frsize))
    return overflow ? .max : bytes
  }
}
