import HTTPCacheFiles
import HTTPCacheLibC
import HTTPCacheStore

/// Collects the regular files below a folder. Symbolic links, devices and sockets are left out, so that nothing
/// outside of the folder is read.
struct FolderWalk {
  static let deepest = 64

  /// The files, ordered by their paths' bytes.
  private(set) var files: [FolderFile] = []
  /// The paths that were left out, each with the reason.
  private(set) var notes: [String] = []
  private let limit: Int

  /// - Parameters:
  ///   - root: the folder.
  ///   - limit: the maximum number of files.
  /// - Throws: `CacheError.tooLarge` for more files, `CacheError.io` if the folder cannot be read.
  init(_ root: CacheFile, limit: Int) throws(CacheError) {
    self.limit = limit
    try visit(root, path: "", depth: 0)
    files.sort { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
  }

  private mutating func visit(_ folder: CacheFile, path: String, depth: Int) throws(CacheError) {
    var names: [String] = []
    try folder.eachName { (name) throws(CacheError) in
      if let name { names.append(name) } else { notes.append("\(path): a name that is not UTF-8") }
    }
    for name in names where !Self.isIgnored(name) {
      let path = path.isEmpty ? name : "\(path)/\(name)"
      var status = stat()
      guard fstatat(folder.descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
        notes.append("\(path): \(String(cString: strerror(errno)))")
        continue
      }
      switch status.st_mode & S_IFMT {
      case S_IFREG:
        guard files.count < limit else { throw CacheError(.tooLarge, "more than \(limit) files") }
        let modified = Int64(status.modificationTime.tv_sec)
        files.append(FolderFile(path: path, length: Int64(status.st_size), modified: modified))
      case S_IFDIR:
        guard depth < Self.deepest else {
          notes.append("\(path): more than \(Self.deepest) folders deep")
          continue
        }
        do throws(CacheError) {
          let inner = try CacheFile(name, in: folder, flags: CacheFile.folder)
          try visit(inner, path: path, depth: depth + 1)
        } catch {
          if error.code == .tooLarge { throw error }
          notes.append("\(path): \(error.message)")
        }
      case S_IFLNK: notes.append("\(path): symbolic links are not followed")
      default: notes.append("\(path): not a regular file")
      }
    }
  }

  /// Files of operating systems and version control.
  static func isIgnored(_ name: String) -> Bool {
    name == ".DS_Store" || name == ".git" || name.hasPrefix("._")
  }
}
