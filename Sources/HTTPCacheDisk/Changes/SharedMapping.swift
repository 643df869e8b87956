import CSystemShims
import HTTPCacheStore

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Words of 8 bytes that all processes of a folder share through a file in it. The first word is a magic number.
final class SharedMapping: @unchecked Sendable {
  // @unchecked Sendable because the memory is only read and written by atomic operations, and unmapped
  // only in deinit.
  let words: UnsafeMutablePointer<UInt64>
  /// Device and inode of the mapped file.
  let identity: FileIdentity
  private let byteCount: Int

  /// Maps a file of a folder, and makes it if needed. A file of another kind in its place is removed.
  ///
  /// - Throws: `CacheError.unavailable` if memory cannot be shared through the file.
  static func map(
    _ name: String, in directory: OpenFile, byteCount: Int, magic: UInt64
  ) throws(CacheError) -> SharedMapping {
    guard shim_is_on_network(directory.descriptor) == 0 else {
      throw CacheError(.unavailable, "a network file system does not share memory")
    }
    do throws(CacheError) {
      return try SharedMapping(name, in: directory, byteCount: byteCount, magic: magic)
    } catch {
      guard error.code == .damaged || isForeign(name, in: directory) else { throw error }
      guard
        unlinkat(directory.descriptor, name, 0) == 0
          || unlinkat(directory.descriptor, name, AT_REMOVEDIR) == 0
      else { throw error }
      return try SharedMapping(name, in: directory, byteCount: byteCount, magic: magic)
    }
  }

  // Whether the path has no regular file. A regular file that cannot be opened now must stay: other processes
  // may have mapped it.
  private static func isForeign(_ name: String, in directory: OpenFile) -> Bool {
    var status = stat()
    guard fstatat(directory.descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return false }
    return status.st_mode & S_IFMT != S_IFREG
  }

  /// - Throws: `CacheError.damaged` if the path has another file.
  private init(
    _ name: String, in directory: OpenFile, byteCount: Int, magic: UInt64
  ) throws(CacheError) {
    let file = try OpenFile(name, in: directory, flags: O_RDWR | O_CREAT | O_NONBLOCK)
    let status = try file.status()
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw CacheError(.damaged, "\(name) is no regular file")
    }
    // Allocate all blocks: a write into a hole would kill the process if the file system is full. A file of
    // another length is made longer, never shorter, because other processes may have mapped it.
    if status.st_size < off_t(byteCount) || Int64(status.st_blocks) * 512 < byteCount {
      let result = shim_allocate(file.descriptor, Int64(byteCount))
      guard result == 0 else { throw SystemError.make(-result, "make \(name)") }
    }
    guard
      let memory = mmap(nil, byteCount, PROT_READ | PROT_WRITE, MAP_SHARED, file.descriptor, 0),
      memory != MAP_FAILED
    else { throw CacheError(.unavailable, "map \(name): \(String(cString: strerror(errno)))") }
    let mapped = memory.bindMemory(to: UInt64.self, capacity: byteCount / 8)
    Self.initialize(mapped, to: magic)
    // Unmap the memory here: `deinit` does not run if the initializer throws.
    guard shim_atomic_load(mapped) == magic else {
      munmap(memory, byteCount)
      throw CacheError(.damaged, "\(name) is not ours")
    }
    words = mapped
    identity = FileIdentity(status)
    self.byteCount = byteCount
  }

  deinit { munmap(words, byteCount) }

  /// Sets a word that is still 0.
  static func initialize(_ word: UnsafeMutablePointer<UInt64>, to value: @autoclosure () -> UInt64) {
    // An exchange writes to the page even if it changes nothing, and a directory of a newer version must stay untouched.
    if shim_atomic_load(word) == 0 { _ = shim_atomic_exchange(word, 0, value()) }
  }
}
