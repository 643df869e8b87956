import HTTPCacheStore
import Synchronization

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A file that appears under its name when it is complete, and then replaces an existing one. Dropped before, it
/// leaves nothing.
final class ReplacedFile: Sendable {
  let file: SystemFile
  private let path: String
  private let temporaryPath: String
  private let isDone = Atomic(false)

  /// Makes a temporary file beside `path`.
  ///
  /// - Throws: `CacheError.io`, `CacheError.noSpace`.
  init(path: String) throws(CacheError) {
    self.path = path
    temporaryPath = "\(path).\(String(UInt64.random(in: .min ... .max), radix: 16)).part"
    file = try SystemFile(path: temporaryPath, flags: O_WRONLY | O_CREAT | O_EXCL)
  }

  deinit { if !isDone.load(ordering: .relaxed) { unlink(temporaryPath) } }

  /// Waits until the file is on the disk, and gives it its name.
  ///
  /// - Throws: `CacheError.io`, `CacheError.noSpace`.
  func finish() throws(CacheError) {
    guard fsync(file.descriptor) == 0 else { throw SystemFile.failure("sync \(temporaryPath)") }
    guard rename(temporaryPath, path) == 0 else { throw SystemFile.failure("rename to \(path)") }
    isDone.store(true, ordering: .relaxed)
  }
}
