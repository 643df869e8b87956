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
///
/// A writer holds the file's lock exclusively. A process that only looks whether there is a writer, or keeps
/// writers away for a moment, shares the lock, and so can be told from a writer.
final class BodyLock: Sendable {
  private let file: OpenFile

  /// Nil if another writer has the lock, or the file is not there. Waits a second at most for shared locks, on
  /// a thread of the store's own.
  init?(_ name: BodyName, in directory: CacheDirectory) {
    // A descriptor of its own, so that readers of the file do not hold the lock.
    guard let file = try? directory.openBody(name, flags: O_RDWR) else { return nil }
    if !file.tryLock() { guard !directory.isLocked(name), file.lock(seconds: 1) else { return nil } }
    self.file = file
  }
}

extension CacheDirectory {
  /// Whether a writer is writing into a partial body.
  func isLocked(_ name: BodyName) -> Bool {
    guard let file = (try? openBody(name, flags: O_RDWR)) ?? nil else { return false }
    return !file.tryLock(.shared)
  }

  /// Opens the file of a partial body and keeps writers away from it until it is closed: for a moment, since they
  /// wait no longer than that.
  ///
  /// - Returns: nil if somebody is writing into it, or it is not there.
  func openShared(_ name: BodyName) -> OpenFile? {
    guard let file = (try? openBody(name, flags: O_RDWR)) ?? nil, file.tryLock(.shared) else { return nil }
    return file
  }
}

extension OpenDirectory {
  /// Deletes the file of a partial body whose row is gone, unless somebody is writing into it, who then
  /// does so, or has just given it another row.
  func removePartialBody(_ name: BodyName) {
    guard let file = directory.openShared(name) else { return }
    withExtendedLifetime(file) { removeIfOrphaned(name) }
  }

  /// Deletes a body's file if no row has it.
  func removeIfOrphaned(_ name: BodyName) {
    guard let isKnown = try? hasRow(of: name), !isKnown else { return }
    directory.removeBody(name)
  }

  /// Whether a row has this file.
  func hasRow(of name: BodyName) throws(CacheError) -> Bool {
    try index.read { (connection) throws(CacheError) in
      try connection.number("SELECT id FROM entry WHERE file = ?", [.text(name.path)]) != nil
    }
  }
}
