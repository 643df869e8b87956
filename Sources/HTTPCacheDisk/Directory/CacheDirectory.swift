import CSystemShims
import HTTPCacheStore
import Synchronization

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The folder of a store: `Cache.db`, `Cache.gen`, `bodies/xx/…`, `writers/…`.
///
/// Every file below the folder is opened from its descriptor, one path component at a time. Symbolic links
/// are never followed.
final class CacheDirectory: Sendable {
  static let databaseName = "Cache.db"
  static let generationsName = "Cache.gen"

  /// The path without symbolic links.
  let path: String
  let root: OpenFile
  private let bodies: OpenFile
  // Open shard folders, so that a body is opened with one system call.
  private let shardFolders = Mutex<[String: OpenFile]>([:])
  private static let shardFolderLimit = 16

  /// Opens a folder, and makes it and its missing parents for the user alone.
  ///
  /// - Parameter durably: whether the names of new folders must survive a power loss.
  /// - Throws: `CacheError.unavailable`, `CacheError.io`.
  init(path: String, durably: Bool) throws(CacheError) {
    let made = try Self.makeFolders(path)
    guard let resolved = realpath(path, nil) else {
      throw CacheError(.unavailable, "\(path): \(String(cString: strerror(errno)))")
    }
    self.path = String(cString: resolved)
    databasePath = self.path + "/" + Self.databaseName
    free(resolved)
    let descriptor = open(self.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw CacheError(.unavailable, "\(path): \(String(cString: strerror(errno)))")
    }
    root = OpenFile(descriptor: descriptor)
    guard faccessat(root.descriptor, ".", W_OK | X_OK, 0) == 0 else {
      throw CacheError(.unavailable, "\(path): \(String(cString: strerror(errno)))")
    }
    bodies = try Self.folder("bodies", in: root)
    if durably { try syncNames(above: made) }
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
      try OpenFile(descriptor: descriptor).sync()
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
      throw CacheError(.unavailable, "\(path): \(String(cString: strerror(errno)))")
    }
    let made = try makeFolders(String(path[..<slash]))
    guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
      throw CacheError(.unavailable, "\(path): \(String(cString: strerror(errno)))")
    }
    return made + [path]
  }

  /// Opens a folder, and makes it if needed.
  static func folder(_ name: String, in parent: OpenFile) throws(CacheError) -> OpenFile {
    if mkdirat(parent.descriptor, name, 0o700) != 0, errno != EEXIST {
      let error = SystemError.last("make \(name)")
      throw CacheError(error.code == .noSpace ? .noSpace : .unavailable, error.message)
    }
    do throws(CacheError) {
      return try OpenFile(name, in: parent, flags: O_RDONLY | O_DIRECTORY)
    } catch {
      throw CacheError(.unavailable, "\(name) is not a folder of this cache", cause: error)
    }
  }

  /// Device and inode of the folder.
  var identity: FileIdentity? { (try? root.status()).map { FileIdentity($0) } }

  let databasePath: String

  func bodyPath(_ name: BodyName) -> String { path + "/bodies/" + name.path }

  /// Bytes of the shard folders, on file systems where each folder takes a block. The link count of `bodies`
  /// tells their number, because each folder links to its parent.
  var folderBytes: Int64 {
    guard let links = try? bodies.status().st_nlink else { return 0 }
    return max(0, Int64(links) - 2) * PageCount.pageSize
  }

  /// Opens a body file, for reading unless `flags` say otherwise.
  ///
  /// - Returns: nil if there is no such file.
  /// - Throws: `CacheError.damaged` if the file is not a regular file, `CacheError.io`.
  func openBody(
    _ name: BodyName, flags: Int32 = O_RDONLY
  ) throws(CacheError) -> OpenFile? {
    try openBodyWithState(name, flags: flags)?.file
  }

  /// Opens a body file as `openBody(_:flags:)` does, and returns the current state of the file with it.
  func openBodyWithState(
    _ name: BodyName, flags: Int32 = O_RDONLY
  ) throws(CacheError) -> (file: OpenFile, state: FileState)? {
    let shard = name.shard
    let known = shardFolders.withLock { $0[shard] }
    // If the shard folder was replaced since it was opened, the open folder has only the old files.
    if let known, let found = try openBody(name, in: known, flags: flags) { return found }
    let descriptor = shim_openat(
      bodies.descriptor, shard, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0)
    if descriptor == -ENOENT { return nil }
    guard descriptor >= 0 else { throw Self.misplaced(-descriptor, "open bodies/\(shard)") }
    let folder = OpenFile(descriptor: descriptor)
    remember(folder, as: shard)
    return try openBody(name, in: folder, flags: flags)
  }

  private func openBody(
    _ name: BodyName, in shard: OpenFile, flags: Int32
  ) throws(CacheError) -> (file: OpenFile, state: FileState)? {
    // O_NONBLOCK: opening a fifo in the place of the body must not wait.
    let descriptor = shim_openat(
      shard.descriptor, name.fileName, flags | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC, 0)
    if descriptor == -ENOENT { return nil }
    guard descriptor >= 0 else { throw Self.misplaced(-descriptor, "open body \(name.path)") }
    let file = OpenFile(descriptor: descriptor)
    let status = try file.status()
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw CacheError(.damaged, "body \(name.path) is no regular file")
    }
    return (file, FileState(status))
  }

  /// A link or a file of another kind was put there by another program and counts as damage.
  private static func misplaced(_ number: Int32, _ operation: String) -> CacheError {
    let error = SystemError.make(number, operation)
    guard [ELOOP, ENOTDIR, EISDIR, ENXIO].contains(number) else { return error }
    return CacheError(.damaged, error.message)
  }

  /// Makes a body file, which must not exist.
  ///
  /// - Parameter isTemporary: whether the file gets the name for bodies that are not complete yet.
  func createBody(_ name: BodyName, isTemporary: Bool = true) throws(CacheError) -> OpenFile {
    let flags = O_RDWR | O_CREAT | O_EXCL
    let fileName = isTemporary ? name.temporaryFileName : name.fileName
    if let known = shardFolders.withLock({ $0[name.shard] }) {
      let descriptor = shim_openat(
        known.descriptor, fileName, flags | O_NOFOLLOW | O_CLOEXEC, 0o600)
      if descriptor >= 0 { return OpenFile(descriptor: descriptor) }
      // A removed folder accepts no new files.
      guard descriptor == -ENOENT else { throw SystemError.make(-descriptor, "make body \(name.path)") }
    }
    if mkdirat(bodies.descriptor, name.shard, 0o700) != 0, errno != EEXIST {
      throw SystemError.last("make bodies/\(name.shard)")
    }
    let shard = try OpenFile(name.shard, in: bodies, flags: O_RDONLY | O_DIRECTORY)
    remember(shard, as: name.shard)
    return try OpenFile(fileName, in: shard, flags: flags)
  }

  private func remember(_ folder: OpenFile, as shard: String) {
    shardFolders.withLock { folders in
      if folders.count >= Self.shardFolderLimit { folders = [:] }
      folders[shard] = folder
    }
  }

  /// Gives a complete body its final name.
  func publishBody(_ name: BodyName, durably: Bool) throws(CacheError) {
    // Use the open folder in which the file was made, if it is still in `shardFolders`.
    let shard =
      if let known = shardFolders.withLock({ $0[name.shard] }) { known } else {
        try OpenFile(name.shard, in: bodies, flags: O_RDONLY | O_DIRECTORY)
      }
    guard
      renameat(shard.descriptor, name.temporaryFileName, shard.descriptor, name.fileName) == 0
    else { throw SystemError.last("rename body") }
    if durably {
      try shard.sync()
      try bodies.sync()
    }
  }

  /// The result of deleting a body file.
  enum Deletion {
    /// The file does not exist now.
    case gone
    /// The deletion failed but may succeed later, for example after too many open files.
    case later
    /// This process cannot delete the file: another user owns it, or it is a folder that is not empty.
    case never
  }

  /// Deletes a body file under its final or temporary name.
  @discardableResult
  func removeBody(_ name: BodyName, isTemporary: Bool = false) -> Deletion {
    removeFile(isTemporary ? name.temporaryFileName : name.fileName, inShard: name.shard)
  }

  /// Deletes a file of a shard folder.
  @discardableResult
  func removeFile(_ fileName: String, inShard shard: String) -> Deletion {
    let descriptor = shim_openat(
      bodies.descriptor, shard, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0)
    guard descriptor >= 0 else { return Self.deletion(after: -descriptor) }
    let folder = OpenFile(descriptor: descriptor)
    if unlinkat(folder.descriptor, fileName, 0) == 0 { return .gone }
    let number = errno
    // An empty folder may be in the place of the body.
    if number != ENOENT, unlinkat(folder.descriptor, fileName, AT_REMOVEDIR) == 0 { return .gone }
    return Self.deletion(after: number)
  }

  private static func deletion(after number: Int32) -> Deletion {
    switch number {
    case ENOENT, ENOTDIR, ELOOP: .gone
    case EMFILE, ENFILE, ENOMEM, EINTR, EIO, EBUSY: .later
    default: .never
    }
  }

  /// The names of the shard folders.
  func shards() -> [String] { Self.names(in: bodies).filter { $0.utf8.count == 2 }.sorted() }

  /// The names of the files in a shard folder.
  func files(inShard shard: String) -> [String] {
    guard let folder = try? OpenFile(shard, in: bodies, flags: O_RDONLY | O_DIRECTORY) else {
      return []
    }
    return Self.names(in: folder)
  }

  /// The names of all files in a folder except `.` and `..`.
  static func names(in folder: OpenFile) -> [String] {
    guard let copy = try? OpenFile(".", in: folder, flags: O_RDONLY | O_DIRECTORY) else { return [] }
    let descriptor = dup(copy.descriptor)
    guard descriptor >= 0 else { return [] }
    guard let stream = fdopendir(descriptor) else {
      close(descriptor)
      return []
    }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != "." && name != ".." { names.append(name) }
    }
    return names
  }

  /// Device and inode of the file at `Cache.db` now; nil if there is no such file.
  func databaseIdentity() -> FileIdentity? { FileIdentity(Self.databaseName, in: root) }

  /// The size of a file in this folder; 0 if there is no such file.
  func size(of name: String) -> Int64 {
    var status = stat()
    guard fstatat(root.descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return 0 }
    return Int64(status.st_size)
  }
}
