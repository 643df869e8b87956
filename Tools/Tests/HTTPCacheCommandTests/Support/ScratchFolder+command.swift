import Foundation
import ServerTesting

extension ScratchFolder {
  /// Writes a file.
  ///
  /// - Returns: its path.
  @discardableResult
  func write(_ bytes: some Sequence<UInt8>, to name: String, mode: Int? = nil) throws -> String {
    try Data(bytes).write(to: url(name))
    if let mode { try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path(name)) }
    return path(name)
  }

  /// Makes a folder in it.
  func makeFolder(_ name: String) throws {
    try FileManager.default.createDirectory(at: url(name), withIntermediateDirectories: true)
  }

  /// The names in it, without the cache.
  var namesBesideCache: [String] { names.filter { $0 != "cache" } }
}
