import CSystemShims
import HTTPCacheFiles
import HTTPCacheLibC
package import HTTPCacheStore

/// A folder for files that are handed out to the caller, readable by the user alone: `files/…` of a
/// directory. Each process that hands out files has a folder in it, and a lock that the system releases when
/// the process ends. The next process deletes the folder of a dead process.
package final class FileHandout: Sendable {
  private static let folderName = "files"
  private static let ownersName = "owners"
  /// The most folders of dead processes, and the most files in each, that one sweep deletes.
  private static let sweepLimit = (folders: 64, files: 4096)

  private let parent: CacheFile
  private let folder: CacheFile
  private let lock: OwnerLock
  private let path: String

  /// Makes the folder and its missing parents.
  ///
  /// - Throws: `CacheError.unavailable`, `CacheError.noSpace`.
  package init(in directory: String) throws(CacheError) {
    try CacheDirectory.makeFolders(directory)
    let (root, resolved) = try CacheDirectory.folder(at: directory)
    let files = try CacheDirectory.folder(Self.folderName, in: root)
    try? Self.sweep(files, Self.sweepLimit)
    lock = try OwnerLock(folder: try CacheDirectory.folder(Self.ownersName, in: files))
    let name = BodyName.ownerText(lock.owner)
    folder = try CacheDirectory.folder(name, in: files)
    parent = files
    path = "\(resolved)/\(Self.folderName)/\(name)"
  }

  deinit { unlinkat(parent.descriptor, BodyName.ownerText(lock.owner), AT_REMOVEDIR) }

  /// The path of a file with this name, whether the file exists or not.
  package func path(of name: String) -> String { path + "/" + name }

  /// Links an open file under a name in this folder.
  ///
  /// - Returns: false if the system cannot link the file here, for example if it is on another file system.
  package func link(_ descriptor: Int32, as name: String) -> Bool {
    #if os(Linux)
      return linkat(
        AT_FDCWD, "/proc/self/fd/\(descriptor)", folder.descriptor, name, AT_SYMLINK_FOLLOW) == 0
    #else
      return false
    #endif
  }

  /// Unlinks a file. A process that has the file open can still read it.
  package func remove(_ name: String) { unlinkat(folder.descriptor, name, 0) }

  /// Deletes files that dead processes left in a directory.
  ///
  /// - Parameter all: whether to delete all of them, however long that takes; else as many as is fast.
  /// - Throws: `CacheError` if the files cannot be listed.
  package static func sweep(in directory: String, all: Bool = false) throws(CacheError) {
    let (root, _) = try CacheDirectory.folder(at: directory)
    guard let files = try CacheFile(existing: folderName, in: root, flags: CacheFile.folder) else {
      return
    }
    try sweep(files, all ? (folders: .max, files: .max) : sweepLimit)
  }

  private static func sweep(
    _ files: CacheFile, _ limit: (folders: Int, files: Int)
  ) throws(CacheError) {
    guard let owners = try CacheFile(existing: ownersName, in: files, flags: CacheFile.folder) else {
      return
    }
    var failure: CacheError?
    for dead in try OwnerLock.owners(of: owners).dead.prefix(limit.folders) {
      let name = BodyName.ownerText(dead.owner)
      do throws(CacheError) {
        if let folder = try CacheFile(existing: name, in: files, flags: CacheFile.folder) {
          for file in try CacheDirectory.names(in: folder).prefix(limit.files) {
            unlinkat(folder.descriptor, file, 0)
          }
        }
      } catch { failure = error }
      // If files remain in the folder, the next process that opens the directory deletes them.
      if unlinkat(files.descriptor, name, AT_REMOVEDIR) == 0 || errno == ENOENT { dead.forget() }
    }
    if let failure { throw failure }
  }
}

extension FileHandout {
  /// A folder for files of caches without a directory, inside the system's folder for temporary files.
  ///
  /// - Throws: `CacheError.unavailable` if the path exists and is not a folder of this user alone.
  package static func temporary() throws(CacheError) -> FileHandout {
    let path = "\(TemporaryFolder.path)/swift-http-cache-\(getuid())"
    if mkdir(path, 0o700) != 0, errno != EEXIST { throw CacheError.last(during: "make \(path)") }
    var status = stat()
    guard lstat(path, &status) == 0 else { throw CacheError.last(during: "look at \(path)") }
    guard status.st_mode & S_IFMT == S_IFDIR, status.st_uid == getuid(),
      status.st_mode & 0o077 == 0
    else { throw CacheError(.unavailable, "\(path) is not this user's alone") }
    return try FileHandout(in: path)
  }
}
