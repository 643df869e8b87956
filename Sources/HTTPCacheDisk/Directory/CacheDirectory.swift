import CSystemShims
import HTTPCacheFiles
import HTTPCacheLibC
import HTTPCacheStore

/// The folder of a store: `Cache.db`, `Cache.gen`, `bodies/…`, `writers/…`.
///
/// Every file below the folder is opened from its descriptor, one path component at a time. Symbolic links
/// are never followed.
final class CacheDirectory: Sendable {
  static let databaseName = "Cache.db"
  static let generationsName = "Cache.gen"

  /// The path without symbolic links.
  let path: String
  let root: CacheFile
  private let bodies: CacheFile

  /// Opens a folder, and makes it and its missing parents for the user alone.
  ///
  /// - Parameter durably: whether the names of new folders must survive a power loss.
  /// - Throws: `CacheError.unavailable`, `CacheError.io`.
  init(path: String, durably: Bool) throws(CacheError) {
    let made = try Self.makeFolders(path)
    (root, self.path) = try Self.folder(at: path)
    databasePath = self.path + "/" + Self.databaseName
    guard faccessat(root.descriptor, ".", W_OK | X_OK, 0) == 0 else { throw Self.unavailable(path) }
    bodies = try Self.folder("bodies", in: root)
    if durably { try syncNames(above: made) }
  }

  private static func unavailable(_ path: String) -> CacheError {
    CacheError(.unavailable, "\(path): \(String(cString: strerror(errno)))")
  }

  /// Opens a folder.
  ///
  /// - Returns: the folder, and its path without symbolic links.
  static func folder(at path: String) throws(CacheError) -> (CacheFile, String) {
    guard let resolved = realpath(path, nil) else { throw unavailable(path) }
    defer { free(resolved) }
    let descriptor = open(resolved, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw unavailable(path) }
    return (CacheFile(descriptor: descriptor), String(cString: resolved))
  }

  // Syncs the parents of the new folders and of this folder, which another process may have made a moment ago.
  private func syncNames(above made: [String]) throws(CacheError) {
    try root.sync()
    for folder in made + [path] {
      let slash = folder.lastIndex(of: "/")
      let above = slash.map { $0 == folder.startIndex ? "/" : String(folder[..<$0]) } ?? "."
      let descriptor = open(above, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
      // A parent without read permission cannot be opened and synced.
      guard descriptor >= 0 else { continue }
      try CacheFile(descriptor: descriptor).sync()
    }
  }

  /// Makes a folder and its missing parents, for the user alone.
  ///
  /// - Returns: the new folders.
  @discardableResult
  static func makeFolders(_ path: String) throws(CacheError) -> [String] {
    guard !path.isEmpty, !path.utf8.contains(0) else {
      throw CacheError(.unavailable, "no directory given")
    }
    if mkdir(path, 0o700) == 0 { return [path] }
    if errno == EEXIST { return [] }
    guard errno == ENOENT, let slash = path.lastIndex(of: "/"), slash > path.startIndex else {
      throw unavailable(path)
    }
    let made = try makeFolders(String(path[..<slash]))
    guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw unavailable(path) }
    return made + [path]
  }

  /// Opens a folder, and makes it if needed.
  static func folder(_ name: String, in parent: CacheFile) throws(CacheError) -> CacheFile {
    if mkdirat(parent.descriptor, name, 0o700) != 0, errno != EEXIST {
      let error = CacheError.last(during: "make \(name)")
      throw CacheError(error.code == .noSpace ? .noSpace : .unavailable, error.message)
    }
    do throws(CacheError) {
      return try CacheFile(name, in: parent, flags: CacheFile.folder)
    } catch {
      throw CacheError(.unavailable, "\(name) is not a folder of this cache", cause: error)
    }
  }

  /// Device and inode of the folder.
  var identity: FileIdentity? { (try? root.status()).map { FileIdentity($0) } }

  let databasePath: String

  func bodyPath(_ name: BodyName) -> String { path + "/bodies/" + name.fileName }

  /// Opens a body file, for reading unless `flags` say otherwise.
  ///
  /// - Returns: the file and its current state; nil if there is no such file.
  /// - Throws: `CacheError.damaged` if the file is not a regular file, `CacheError.io`.
  func openBody(
    _ name: BodyName, flags: Int32 = O_RDONLY
  ) throws(CacheError) -> (file: CacheFile, state: FileState)? {
    // O_NONBLOCK: opening a fifo in the place of the body must not wait.
    let descriptor = shim_openat(
      bodies.descriptor, name.fileName, flags | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC, 0)
    if descriptor == -ENOENT { return nil }
    guard descriptor >= 0 else {
      let error = CacheError(number: -descriptor, during: "open body \(name.fileName)")
      // A link or a file of another kind was put there by another program and counts as damage.
      guard Descriptor.isOfOtherKind(-descriptor) else { throw error }
      throw CacheError(.damaged, error.message)
    }
    let file = CacheFile(descriptor: descriptor)
    let status = try file.status()
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw CacheError(.damaged, "body \(name.fileName) is no regular file")
    }
    return (file, FileState(status))
  }

  /// Makes a body file, which must not exist.
  func createBody(_ name: BodyName) throws(CacheError) -> CacheFile {
    try CacheFile(name.fileName, in: bodies, flags: CacheFile.making)
  }

  /// Syncs the names of the body files.
  func syncBodyNames() throws(CacheError) { try bodies.sync() }

  /// The result of deleting a body file.
  enum Deletion {
    /// The file does not exist now.
    case gone
    /// The deletion failed but may succeed later, for example after too many open files.
    case later
    /// This process cannot delete the file: another user owns it, or it is a folder that is not empty.
    case never
  }

  /// Deletes a body file.
  @discardableResult
  func removeBody(_ name: BodyName) -> Deletion {
    // An empty folder may be in the place of the body.
    switch bodies.remove(name.fileName) {
    case 0, ENOENT, ENOTDIR, ELOOP: .gone
    case EMFILE, ENFILE, ENOMEM, EINTR, EIO, EBUSY: .later
    default: .never
    }
  }

  /// Passes the names of the body files on, some at a time, so that few are in memory. Other names are left out.
  func bodies(_ some: ([BodyName]) throws(CacheError) -> Void) throws(CacheError) {
    var names: [BodyName] = []
    try bodies.eachName { (name) throws(CacheError) in
      guard let name = name.flatMap({ BodyName(fileName: $0) }) else { return }
      names.append(name)
      if names.count >= 4_096 {
        try some(names)
        names = []
      }
    }
    try some(names)
  }

  /// The names of all files in a folder except `.` and `..`. Names that are not UTF-8 are left out: this library names
  /// its files in ASCII.
  static func names(in folder: CacheFile) throws(CacheError) -> [String] {
    var names: [String] = []
    try folder.eachName { (name) throws(CacheError) in if let name { names.append(name) } }
    return names
  }

  /// Device and inode of the file at `Cache.db` now; nil if there is no such file.
  func databaseIdentity() -> FileIdentity? { FileIdentity(Self.databaseName, in: root) }

  /// The size of a file in this folder; 0 if there is no such file.
  func size(of name: String) -> Int64 {
    root.status(of: name).map { Int64($0.st_size) } ?? 0
  }

  // MARK: The index that was found damaged and is kept for analysis

  static let damagedName = databaseName + ".damaged"
  private static let damagedNames = [damagedName, damagedName + "-wal"]

  /// Bytes of its files.
  var setAsideBytes: Int64 { Self.damagedNames.reduce(0) { $0 + size(of: $1) } }

  func removeSetAside() { for name in Self.damagedNames { root.remove(name) } }

  /// Renames the index and its log, so that a new index can be made. An index that was set aside before is deleted.
  func setIndexAside() throws(CacheError) {
    removeSetAside()
    do throws(CacheError) {
      try root.rename(Self.databaseName, to: Self.damagedName)
      // SQLite would play a log that stays into the new index.
      let log = Self.databaseName + "-wal"
      if root.status(of: log) != nil, (try? root.rename(log, to: Self.damagedName + "-wal")) == nil,
        root.remove(log) != 0
      {
        throw CacheError(.io, "\(log) cannot be removed")
      }
    } catch {
      throw CacheError(.unavailable, "cannot set Cache.db aside: \(error.message)")
    }
    root.remove(Self.databaseName + "-shm")
  }
}

/// Makes the path of a directory independent of the working directory.
package enum DirectoryPath {
  /// The absolute path of a directory. Symbolic links in the path are not resolved.
  package static func absolute(_ path: String) -> String {
    guard !path.isEmpty, !path.hasPrefix("/"), let current = getcwd(nil, 0) else { return path }
    defer { free(current) }
    let folder = String(cString: current)
    return folder.hasSuffix("/") ? folder + path : folder + "/" + path
  }
}
