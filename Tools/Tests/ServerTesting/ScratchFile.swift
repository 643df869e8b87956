import Foundation

/// A file that a test inspects.
package struct ScratchFile: Sendable {
  /// The path.
  package let path: String

  /// Names a file, which may not exist.
  package init(_ path: String) { self.path = path }

  /// Whether it exists.
  package var exists: Bool { FileManager.default.fileExists(atPath: path) }

  /// Its content; nil if it cannot be read.
  package var bytes: [UInt8]? { FileManager.default.contents(atPath: path).map(Array.init) }
}
