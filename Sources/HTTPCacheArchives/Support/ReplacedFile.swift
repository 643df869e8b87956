import HTTPCacheFiles
import HTTPCacheLibC
import HTTPCacheStore
import Synchronization

/// A file that appears under its name when it is complete, and then replaces an existing one. Dropped before, it
/// leaves nothing.
final class ReplacedFile: Sendable {
  let file: CacheFile
  private let path: String
  private let temporaryPath: String
  private let isDone = Atomic(false)

  /// Makes a temporary file beside `path`, or beside the file that a symbolic link leads to.
  ///
  /// - Throws: `CacheError.io`, also if there is something else than a regular file; `CacheError.noSpace`.
  init(path: String) throws(CacheError) {
    let path = try Self.target(of: path)
    self.path = path
    temporaryPath = "\(path).\(String(UInt64.random(in: .min ... .max), radix: 16)).part"
    file = try CacheFile(path: temporaryPath, flags: O_WRONLY | O_CREAT | O_EXCL)
  }

  private static func target(of path: String) throws(CacheError) -> String {
    var status = stat()
    // Making the temporary file tells why the folder cannot be used.
    guard lstat(path, &status) == 0 else { return path }
    var target = path
    if status.st_mode & S_IFMT == S_IFLNK {
      guard let resolved = realpath(path, nil) else { throw CacheFile.failure("follow the link \(path)") }
      defer { free(resolved) }
      target = String(cString: resolved)
      guard lstat(target, &status) == 0 else { throw CacheFile.failure("follow the link \(path)") }
    }
    // Renaming would replace a device or a pipe.
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw CacheError(.io, "\(path) exists and is not a regular file")
    }
    return target
  }

  deinit { if !isDone.load(ordering: .relaxed) { unlink(temporaryPath) } }

  /// Waits until the file is on the disk, and gives it its name.
  ///
  /// - Throws: `CacheError.io`, `CacheError.noSpace`.
  func finish() throws(CacheError) {
    guard fsync(file.descriptor) == 0 else { throw CacheFile.failure("sync \(temporaryPath)") }
    guard rename(temporaryPath, path) == 0 else { throw CacheFile.failure("rename to \(path)") }
    isDone.store(true, ordering: .relaxed)
  }
}
