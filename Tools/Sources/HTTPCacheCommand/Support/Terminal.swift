import Foundation
import HTTPCaching

/// What is known of a terminal.
enum Terminal {
  /// Whether a descriptor is a terminal.
  static func isTerminal(_ descriptor: Int32) -> Bool { isatty(descriptor) == 1 }

  /// The number of columns; nil where there is no terminal.
  static func width(_ descriptor: Int32) -> Int? {
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
    return Int(size.ws_col)
  }

  /// Whether bytes at the beginning of a body are no text: they hold a NUL.
  static func isBinary(_ bytes: BodyBytes) -> Bool { bytes.withUnsafeBytes { $0.contains(0) } }
}
