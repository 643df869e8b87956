import HTTPCacheFiles
import HTTPCacheStore

/// The body of a response in a file of a folder.
final class FolderBody: StoredBody {
  private let root: OpenFile
  private let file: FolderFile

  init(_ file: FolderFile, below root: OpenFile) {
    self.file = file
    self.root = root
  }

  /// Opens the file.
  ///
  /// - Throws: `CacheError.damaged` if its length changed since the folder was opened, `CacheError.io`.
  func open() throws(CacheError) -> any BodyReader {
    let opened = try OpenFile.file(file.path, below: root)
    guard try opened.length() == file.length else {
      throw CacheError(.damaged, "\(file.path) changed since its folder was opened")
    }
    return FileReading(opened, length: file.length)
  }
}
