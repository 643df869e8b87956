import Foundation
import HTTPCacheLibC

/// A file with a token or a key.
enum SecretFile {
  /// Whether other users can read a file.
  ///
  /// In the folders of `LoadCredential=`, which systemd protects, the bits of the group stand for an access list with the
  /// user of the service alone (systemd.exec(5)). The mode of a pipe says nothing.
  ///
  /// - Parameter folder: that folder of this process; nil without one, as for `--check` in a shell.
  static func isOpenToOthers(
    _ path: String, _ status: stat,
    folder: String? = ProcessInfo.processInfo.environment["CREDENTIALS_DIRECTORY"]
  ) -> Bool {
    guard status.st_mode & S_IFMT == S_IFREG else { return false }
    let isHandedOver =
      !path.contains("/../")
      && [folder ?? "", "/run/credentials"].contains { !$0.isEmpty && path.hasPrefix($0 + "/") }
    return status.st_mode & (isHandedOver ? 0o007 : 0o077) != 0
  }
}
