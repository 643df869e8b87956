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
    var (status, otherStatus) = (stat(), stat())
    guard stat(folder, &status) == 0, stat(other, &otherStatus) == 0 else { return false }
    return status.st_dev == otherStatus.st_dev && shim_can_clone(folder) == 1
  }
}
