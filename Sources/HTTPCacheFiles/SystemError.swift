package import HTTPCacheStore

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Marks an error of a full file system, in contrast to a reached capacity.
package struct FullFileSystem: Error, CustomStringConvertible {
  /// Whether a quota of a user or folder is used up. The free space of the file system does not show quotas.
  package let isQuota: Bool

  package init(isQuota: Bool = false) { self.isQuota = isQuota }

  package var description: String { isQuota ? "the quota is used up" : "the file system is full" }
}

extension CacheError {
  /// Set if the file system is full, whatever the capacity.
  package var fullFileSystem: FullFileSystem? { cause as? FullFileSystem }
}

/// Makes a cache error of the `errno` of a system call.
package enum SystemError {
  /// Whether the number says that the file system or a quota is full.
  package static func isFull(_ number: Int32) -> Bool { number == ENOSPC || number == EDQUOT }

  static func make(_ number: Int32, _ operation: String) -> CacheError {
    let message = "\(operation): \(String(cString: strerror(number)))"
    switch number {
    case let number where isFull(number):
      return CacheError(.noSpace, message, cause: FullFileSystem(isQuota: number == EDQUOT))
    case EACCES, EPERM, EROFS, ENOTDIR, ELOOP: return CacheError(.unavailable, message)
    default: return CacheError(.io, message)
    }
  }

  static func last(_ operation: String) -> CacheError { make(errno, operation) }
}
