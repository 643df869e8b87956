import Foundation
import HTTPCacheProxy

/// Checks a directory before a cache is made in it.
enum UsableDirectory {
  // The files of a cache, and files that a file system or a desktop makes in any directory.
  private static let expected = ["bodies", "writers", "files", "downloads", "CACHEDIR.TAG", "lost+found"]

  /// The reason why no cache may be made in a directory; nil if there is a cache already, or one may be made.
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

  /// The reason why a file that the server makes before the cache is in the way of the cache; nil if it is not.
  static func objection(to path: String, holding file: String?) -> String? {
    let folder = URL(fileURLWithPath: path).standardizedFileURL.path
    guard let file, !FileManager.default.fileExists(atPath: path + "/Cache.db"),
      URL(fileURLWithPath: file).standardizedFileURL.path.hasPrefix(folder + "/")
    else { return nil }
    return "\(path) would have another file (\(file)) before a cache; put it elsewhere"
  }

  /// The reason why a directory cannot be written, or cannot be made with its missing parents; nil if it can be used.
  /// Changes no file.
  static func obstacle(to path: String) -> String? {
    var folder = URL(fileURLWithPath: path).standardizedFileURL.path
    var status = stat()
    // A link to nothing is in the way.
    while lstat(folder, &status) != 0, errno == ENOENT, folder != "/" {
      folder = (folder as NSString).deletingLastPathComponent
    }
    var isDirectory: ObjCBool = false
    if FileManager.default.fileExists(atPath: folder, isDirectory: &isDirectory), !isDirectory.boolValue {
      return "\(folder) is not a directory"
    }
    guard access(folder, R_OK | W_OK | X_OK) == 0 else { return "\(folder): \(SystemMessage.text(errno))" }
    let index = path + "/Cache.db"
    guard access(index, R_OK | W_OK) != 0, errno != ENOENT else { return nil }
    return "\(index): \(SystemMessage.text(errno))"
  }
}
