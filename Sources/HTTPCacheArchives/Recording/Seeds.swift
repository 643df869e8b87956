import Foundation
import HTTPCacheFiles
public import HTTPCacheStore

/// Opens seeds of every kind.
public enum Seeds {
  /// Opens a folder (`FolderSeed`), an archive (`ArchiveSeed`), or a recording (`RecordingSeed`), by its content.
  ///
  /// - Throws: `CacheError.unavailable` if there is nothing at the path; what the initialiser of the kind throws.
  public static func open(path: String) throws(CacheError) -> any SeedSource {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
      throw CacheError(.unavailable, "there is no archive, recording or folder \(path)")
    }
    if isFolder.boolValue { return try FolderSeed(path: path) }
    switch try SeedKind(of: try OpenFile(path: path)) {
    case .har, .warc: return try RecordingSeed(path: path)
    case .archive, nil: return try ArchiveSeed(path: path)
    }
  }
}
