import CSystemShims
import HTTPCacheStore

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Copies of body files outside the store.
enum FileCopy {
  /// Makes a file at `path` of a file that has exactly `length` bytes. The system shares its blocks or copies them.
  ///
  /// - Returns: false if the system can do neither; no file is left then.
  /// - Throws: `CacheError.io` if a file exists at `path`.
  static func make(_ path: String, of source: OpenFile, length: Int64) throws(CacheError) -> Bool {
    let descriptor = shim_open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw SystemError.make(-descriptor, "make \(path)") }
    let file = OpenFile(descriptor: descriptor)
    if file.shareBlocks(of: source.descriptor) { return true }
    var offset: Int64 = 0
    while offset < length {
      let count = shim_copy_range(
        file.descriptor, source.descriptor, &offset, Int(min(length - offset, 1 << 30)))
      guard count > 0 else {
        unlink(path)
        return false
      }
    }
    return true
  }
}
