import CSystemShims

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

enum BlockSharing {
  /// Whether two folders are on one file system whose files can share blocks.
  static func isPossible(between folder: String, and other: String) -> Bool {
    isOneVolume(folder, other) && shim_can_clone(folder) == 1
  }

  /// Whether two folders are on one file system.
  static func isOneVolume(_ folder: String, _ other: String) -> Bool {
    var (status, otherStatus) = (stat(), stat())
    guard stat(folder, &status) == 0, stat(other, &otherStatus) == 0 else { return false }
    return status.st_dev == otherStatus.st_dev
  }
}
