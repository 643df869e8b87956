import Foundation

/// Looks at a directory before a cache is made in it.
enum UsableDirectory {
  // What a cache has in its directory, and what a file system or a desktop puts anywhere.
  private static let expected = ["bodies", "writers", "files", "CACHEDIR.TAG", "lost+found"]

  /// Why no cache is to be made in a directory; nil if there is a cache, or there can be one.
  ///
  /// - Parameter path: need not exist.
  static func objection(to path: String) -> String? {
    var isDirectory: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) else { return nil }
    guard isDirectory.boolValue else { return "\(path) is not a directory" }
    guard let names = try? FileManager.default.contentsOfDirectory(atPath: path),
      !names.contains("Cache.db")
    else { return nil }
    let others = names.filter { name in
      !expected.contains(name) && !name.hasPrefix("Cache.") && !name.hasPrefix(".")
    }
    guard let first = others.min() else { return nil }
    let rest = others.count > 1 ? " and \(others.count - 1) more" : ""
    return "\(path) has no cache but other files (\(first)\(rest)); name a new or empty directory"
  }
}
