import CSystemShims
import HTTPCacheLibC

/// The file system of a folder.
enum Volume {
  /// Whether two folders are on one file system.
  static func isSame(_ folder: String, _ other: String) -> Bool {
    var (status, otherStatus) = (stat(), stat())
    guard stat(folder, &status) == 0, stat(other, &otherStatus) == 0 else { return false }
    return status.st_dev == otherStatus.st_dev
  }

  /// Whether two folders are on one file system whose files can share blocks.
  static func sharesBlocks(of folder: String, with other: String) -> Bool {
    isSame(folder, other) && shim_can_clone(folder) == 1
  }

  /// The bytes that this user may still write; nil if unknown.
  static func freeBytes(of folder: String) -> Int64? {
    var status = statvfs()
    guard statvfs(folder, &status) == 0 else { return nil }
    let (bytes, overflow) = Int64(clamping: status.f_bavail)
      .multipliedReportingOverflow(by: Int64(clamping: status.f_frsize))
    return overflow ? .max : bytes
  }
}
