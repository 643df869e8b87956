import HTTPCacheStore

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The right to write into the file of a partial body, and the duty to delete it if its row is gone.
/// One has it at a time, in whatever process; it goes with the process.
final class BodyLock: Sendable {
  private let file: OpenFile

  /// Nil if somebody else has it, or the file is not there.
  init?(_ name: BodyName, in directory: CacheDirectory) {
    // A descriptor of its own, so that readers of the file do not hold the lock.
    guard let file = try? directory.openBody(name, flags: O_RDWR), file.tryLock() else { return nil }
    self.file = file
  }
}

extension CacheDirectory {
  /// Deletes the file of a partial body whose row is gone, unless somebody is writing into it, who then
  /// does so.
  func removePartialBody(_ name: BodyName) {
    guard let lock = BodyLock(name, in: self) else { return }
    withExtendedLifetime(lock) { removeBody(name) }
  }
}
