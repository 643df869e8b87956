import HTTPCacheStore

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Keeps writers away from the file of a partial body; for a moment, since they wait no longer than that.
final class SharedBodyLock: Sendable {
  private let file: OpenFile

  /// Nil if a writer has the lock, or the file is not there.
  init?(_ name: BodyName, in directory: CacheDirectory) {
    guard let file = try? directory.openBody(name, flags: O_RDWR), file.tryLock(.shared) else { return nil }
    self.file = file
  }
}
