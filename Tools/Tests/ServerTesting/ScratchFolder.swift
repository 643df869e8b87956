package import Foundation

/// A folder for the files of a test. It is removed with its last user.
package final class ScratchFolder: Sendable {
  package let url: URL

  /// Makes a folder among the temporary files.
  package init() throws {
    url = FileManager.default.temporaryDirectory.appendingPathComponent("httpcache-scratch-\(UUID())")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  package var path: String { url.path }

  /// A path in it.
  package func path(_ name: String) -> String { "\(path)/\(name)" }

  /// The URL of a path in it.
  package func url(_ name: String) -> URL { url.appendingPathComponent(name) }

  /// The file with this name.
  package func file(_ name: String) -> ScratchFile { ScratchFile(path(name)) }

  /// Removes the file with this name.
  package func remove(_ name: String) { try? FileManager.default.removeItem(at: url(name)) }

  /// The names of its files.
  package var names: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted()
  }
}
