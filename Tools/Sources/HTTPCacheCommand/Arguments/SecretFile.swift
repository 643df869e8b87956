import Foundation

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A file with a token or a key.
enum SecretFile {
  /// Whether other users can read a file.
  ///
  /// In the folder of `LoadCredential=`, which systemd protects, the bits of the group stand for an access list with the
  /// user of the service alone (systemd.exec(5)). The mode of a pipe says nothing.
  ///
  /// - Parameter folder: that folder; nil without one.
  static func isOpenToOthers(
    _ path: String, _ status: stat,
    folder: String? = ProcessInfo.processInfo.environment["CREDENTIALS_DIRECTORY"]
  ) -> Bool {
    guard status.st_mode & S_IFMT == S_IFREG else { return false }
    let folder = folder ?? ""
    let isHandedOver = !folder.isEmpty && path.hasPrefix(folder + "/") && !path.contains("/../")
    return status.st_mode & (isHandedOver ? 0o007 : 0o077) != 0
  }
}
