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
/// Everything below it is reached from its open descriptor, one component at a time, and no symbolic
/// link is followed.
final class CacheDirectory: Sendable {
  static let databaseName = "Cache.db"
  static let generationsName = "Cache.gen"

  /// Without symbolic links.
  let path: String
  let root: OpenFile
  private let bodies: OpenFile
  // Open folders of bodies, so that a body is opened in one step.
  private let shardFolders = Mutex<[String: OpenFile]>([:])
  private static let shardFolderLimit = 16

  /// Opens a folder and makes what is missing of it, for the user alone.
  ///
  /// - Parameter durably: whether the names of what was made have to be there after power loss.
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

  // Of the folders that were made, and of this one, which an earlier process may have made just now.
  private func syncNames(above made: [String]) throws(CacheError) {
    try root.sync()
    for folder in made + [path] {
      let slash = folder.lastIndex(of: "/")
      let above = slash.map { $0 == folder.startIndex ? "/" : String(folder[..<$0]) } ?? "."
      let descriptor = open(above, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
      // A folder that may only be passed through cannot be synced by us.
      guard descriptor >= 0 else { continue }
      try OpenFile(descriptor: descriptor).sync()
    }
  }

  /// Makes a folder and what is missing above it, for the user alone.
  ///
  /// - Returns: the folders that were made.
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

  /// Opens a folder, or makes it first.
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

  /// Which folder it is.
  var identity: FileIdentity? { (try? root.status()).map { FileIdentity($0) } }

  let databasePath: String

  func bodyPath(_ name: BodyName) -> String { path + "/bodies/" + name.path }

  /// Bytes of the folders of bodies. Each has a link to its parent, on file systems where folders take
  /// blocks of their own.
  var folderBytes: Int64 {
    guard let links = try? bodies.status().st_nlink else { return 0 }
    return max(0, Int64(links) - 2) * PageCount.pageSize
  }

  /// Opens a body, for reading unless `flags` say something else.
  ///
  /// - Returns: nil if it is not there.
  /// - Throws: `CacheError.damaged` if it is no regular file, `CacheError.io`.
  func openBody(
    _ name: BodyName, flags: Int32 = O_RDONLY
  ) throws(CacheError) -> OpenFile? {
    try openBodyWithState(name, flags: flags)?.file
  }

  /// The same, with what the file is now.
  func openBodyWithState(
    _ name: BodyName, flags: Int32 = O_RDONLY
  ) throws(CacheError) -> (file: OpenFile, state: FileState)? {
    let shard = name.shard
    let known = shardFolders.withLock { $0[shard] }
    // A folder that was replaced since it was opened has what it had, but nothing new.
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
    // O_NONBLOCK keeps a fifo in a body's place from holding the reader.
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

  /// What is a link or of another kind than we made it was put there by somebody else.
  private static func misplaced(_ number: Int32, _ operation: String) -> CacheError {
    let error = SystemError.make(number, operation)
    guard [ELOOP, ENOTDIR, EISDIR, ENXIO].contains(number) else { return error }
    return CacheError(.damaged, error.message)
  }

  /// Makes the file of a body, which must not exist.
  ///
  /// - Parameter isTemporary: whether it gets the name that it has until it is complete.
  func createBody(_ name: BodyName, isTemporary: Bool = true) throws(CacheError) -> OpenFile {
    let flags = O_RDWR | O_CREAT | O_EXCL
    let fileName = isTemporary ? name.temporaryFileName : name.fileName
    if let known = shardFolders.withLock({ $0[name.shard] }) {
      let descriptor = shim_openat(
        known.descriptor, fileName, flags | O_NOFOLLOW | O_CLOEXEC, 0o600)
      if descriptor >= 0 { return OpenFile(descriptor: descriptor) }
      // A folder that was removed since it was opened takes nothing new.
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
    // That in which it was made, as long as it is remembered.
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

  /// What came of deleting a body.
  enum Deletion {
    /// It is not there now.
    case gone
    /// It may work later, as where too many files are open.
    case later
    /// It is somebody else's to delete, or no file.
    case never
  }

  /// Deletes a body under either of its names.
  @discardableResult
  func removeBody(_ name: BodyName, isTemporary: Bool = false) -> Deletion {
    removeFile(isTemporary ? name.temporaryFileName : name.fileName, inShard: name.shard)
  }

  /// Deletes a file of a shard.
  @discardableResult
  func removeFile(_ fileName: String, inShard shard: String) -> Deletion {
    let descriptor = shim_openat(
      bodies.descriptor, shard, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0)
    guard descriptor >= 0 else { return Self.deletion(after: -descriptor) }
    let folder = OpenFile(descriptor: descriptor)
    if unlinkat(folder.descriptor, fileName, 0) == 0 { return .gone }
    let number = errno
    // An empty folder may lie in a body's place.
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

  /// The names of the shards that exist.
  func shards() -> [String] { Self.names(in: bodies).filter { $0.utf8.count == 2 }.sorted() }

  /// The names of the files of a shard.
  func files(inShard shard: String) -> [String] {
    guard let folder = try? OpenFile(shard, in: bodies, flags: O_RDONLY | O_DIRECTORY) else {
      return []
    }
    return Self.names(in: folder)
  }

  /// Everything in a folder but `.` and `..`.
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

  /// Device and inode of the file that lies at `Cache.db` now; nil if there is none.
  func databaseIdentity() -> FileIdentity? { FileIdentity(Self.databaseName, in: root) }

  /// Bytes of a file in this folder; 0 if there is none.
  func size(of name: String) -> Int64 {
    var status = stat()
    guard fstatat(root.descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return 0 }
    return Int64(status.st_size)
  }
}

/// Tells files apart, whatever their names.
struct FileIdentity: Hashable, Sendable {
  private let device: UInt64
  private let inode: UInt64

  init(_ status: stat) {
    device = UInt64(truncatingIfNeeded: status.st_dev)
    inode = UInt64(truncatingIfNeeded: status.st_ino)
  }

  /// Of what lies at a path now.
  init?(path: String) {
    var status = stat()
    guard lstat(path, &status) == 0 else { return nil }
    self.init(status)
  }

  init?(_ name: String, in directory: OpenFile) {
    var status = stat()
    guard fstatat(directory.descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return nil }
    self.init(status)
  }
}
