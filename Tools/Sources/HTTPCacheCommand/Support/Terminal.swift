import Foundation
import HTTPCaching

/// Facts about a terminal.
enum Terminal {
  /// Whether a descriptor is a terminal.
  static func isTerminal(_ descriptor: Int32) -> Bool { isatty(descriptor) == 1 }

  /// Whether a descriptor is a regular file or a pipe.
  static func isFileOrPipe(_ descriptor: Int32) -> Bool {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return false }
    return [S_IFREG, S_IFIFO].contains(status.st_mode & S_IFMT)
  }

  /// The number of columns; nil without a terminal.
  static func width(_ descriptor: Int32) -> Int? {
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
    return Int(size.ws_col)
  }

  /// Whether the first bytes of a body are binary: they have a NUL.
  static func isBinary(_ bytes: BodyBytes) -> Bool { bytes.withUnsafeBytes { $0.contains(0) } }
}
