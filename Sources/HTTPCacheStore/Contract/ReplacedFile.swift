package import HTTPCacheFiles
import HTTPCacheLibC
import Synchronization

/// A file that appears under its name when it is complete, and then replaces an existing one. Dropped before, it
/// leaves nothing.
package final class ReplacedFile: Sendable {
  package let file: OpenFile<CacheError>
  private let path: String
  private let temporaryPath: String
  private let isDone = Atomic(false)

  /// Makes a temporary file beside `path`, or beside the file that a symbolic link leads to.
  ///
  /// - Throws: `CacheError.io`, also if there is something else than a regular file; `CacheError.noSpace`.
  package convenience init(path: String) throws(CacheError) {
    let path = try Self.target(of: path)
    let number = String(UInt64.random(in: .min ... .max), radix: 16)
    try self.init(path: path, temporaryPath: "\(path).\(number).part", permissions: 0o644)
  }

  /// Makes a temporary file.
  ///
  /// - Parameters:
  ///   - path: the file to replace; a symbolic link is replaced itself.
  ///   - temporaryPath: a path in the same folder, where no file may be.
  ///   - flags: flags of `open`, besides those that make a file to write.
  ///   - permissions: of the file.
  /// - Throws: `CacheError.io`, `CacheError.noSpace`.
  package init(
    path: String, temporaryPath: String, flags: Int32 = 0, permissions: UInt16
  ) throws(CacheError) {
    self.path = path
    self.temporaryPath = temporaryPath
    let descriptor = open(temporaryPath, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | flags, mode_t(permissions))
    guard descriptor >= 0 else { throw CacheFile.failure("cannot make \(temporaryPath)") }
    file = OpenFile(descriptor: descriptor)
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
  package func finish() throws(CacheError) {
    // A power loss could otherwise leave the name with an empty file.
    guard fsync(file.descriptor) == 0 else {
      throw CacheFile.failure("cannot write \(temporaryPath) to the disk")
    }
    guard rename(temporaryPath, path) == 0 else { throw CacheFile.failure("cannot replace \(path)") }
    isDone.store(true, ordering: .relaxed)
  }
}
