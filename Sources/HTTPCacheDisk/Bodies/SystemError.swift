import HTTPCacheStore

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Marks an error of a file system that is full, in contrast to a capacity.
struct FullFileSystem: Error, CustomStringConvertible {
  /// Whether it is a user's or a folder's share of it, which the file system's figures do not tell of.
  var isQuota = false

  var description: String { isQuota ? "the quota is used up" : "the file system is full" }
}

extension CacheError {
  /// Set if there is no room on the file system, whatever the capacity.
  var fullFileSystem: FullFileSystem? { cause as? FullFileSystem }
}

/// What a system call's `errno` means to a cache.
enum SystemError {
  static func make(_ number: Int32, _ operation: String) -> CacheError {
    let message = "\(operation): \(String(cString: strerror(number)))"
    switch number {
    case ENOSPC: return CacheError(.noSpace, message, cause: FullFileSystem())
    case EDQUOT: return CacheError(.noSpace, message, cause: FullFileSystem(isQuota: true))
    case EACCES, EPERM, EROFS, ENOTDIR, ELOOP: return CacheError(.unavailable, message)
    default: return CacheError(.io, message)
    }
  }

  static func last(_ operation: String) -> CacheError { make(errno, operation) }
}
