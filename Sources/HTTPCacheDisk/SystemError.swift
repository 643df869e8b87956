import HTTPCacheStore

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// What a system call's `errno` means to a cache.
enum SystemError {
  static func make(_ number: Int32, _ operation: String) -> CacheError {
    let message = "\(operation): \(String(cString: strerror(number)))"
    switch number {
    case ENOSPC, EDQUOT: return CacheError(.noSpace, message)
    case EACCES, EPERM, EROFS, ENOTDIR, ELOOP: return CacheError(.unavailable, message)
    default: return CacheError(.io, message)
    }
  }

  static func last(_ operation: String) -> CacheError { make(errno, operation) }
}
