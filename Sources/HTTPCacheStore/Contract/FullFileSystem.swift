package import HTTPCacheFiles
import HTTPCacheLibC

/// An open file or directory whose errors are those of a cache.
package typealias CacheFile = OpenFile<CacheError>

extension CacheError: SystemFailure {
  package init(number: Int32, during operation: String) {
    let message = "\(operation): \(String(cString: strerror(number)))"
    switch number {
    case let number where FullFileSystem.isMeant(by: number):
      self.init(.noSpace, message, cause: FullFileSystem(isQuota: number == EDQUOT))
    case EACCES, EPERM, EROFS, ENOTDIR, ELOOP: self.init(.unavailable, message)
    default: self.init(.io, message)
    }
  }

  /// Set if the file system is full, whatever the capacity.
  package var fullFileSystem: FullFileSystem? { cause as? FullFileSystem }
}

/// Marks an error of a full file system, in contrast to a reached capacity.
package struct FullFileSystem: Error, CustomStringConvertible {
  /// Whether a quota of a user or folder is used up. The free space of the file system does not show quotas.
  package let isQuota: Bool

  package init(isQuota: Bool = false) { self.isQuota = isQuota }

  package var description: String { isQuota ? "the quota is used up" : "the file system is full" }

  /// Whether the number of an error says that the file system or a quota is full.
  package static func isMeant(by number: Int32) -> Bool { number == ENOSPC || number == EDQUOT }
}
