import HTTPCacheFiles
import HTTPCacheStore

/// A regular file of a `FolderSeed`.
struct FolderFile: Sendable {
  /// The path below the folder, with `/` between names.
  let path: String
  /// Bytes.
  let length: Int64
  /// When it was last modified, in seconds since 1970.
  let modified: Int64
}

/// The body of a response in a file of a folder.
final class FolderBody: StoredBody {
  private let root: CacheFile
  private let file: FolderFile

  init(_ file: FolderFile, below root: CacheFile) {
    self.file = file
    self.root = root
  }

  /// Opens the file.
  ///
  /// - Throws: `CacheError.damaged` if its length changed since the folder was opened, `CacheError.io`.
  func open() throws(CacheError) -> any BodyReader {
    let opened = try CacheFile.file(file.path, below: root)
    guard try opened.length() == file.length else {
      throw CacheError(.damaged, "\(file.path) changed since its folder was opened")
    }
    return FileReading(opened, length: file.length)
  }
}
