import HTTPCacheFiles
import HTTPCacheStore
import Synchronization

/// The right to write into the file of a partial body, and the duty to delete the file if its row was
/// removed. One writer of all processes has it at a time. The system releases the lock when the process ends.
///
/// A writer holds the file's lock exclusively. A process that only checks for a writer, or keeps writers away
/// for a moment, shares the lock, so that other processes can tell it from a writer.
final class BodyLock: Sendable {
  // Holds the lock.
  private let file: CacheFile

  /// Returns nil if another writer has the lock, or if the file does not exist. Waits at most a second for
  /// shared locks, on a thread of the store.
  init?(_ name: BodyName, in directory: CacheDirectory) {
    // Use a separate descriptor, so that readers of the file do not hold the lock.
    guard let file = try? directory.openBody(name, flags: CacheFile.writing)?.file else { return nil }
    if !file.tryLock() { guard !directory.isLocked(name), file.lock(seconds: 1) else { return nil } }
    self.file = file
  }
}

extension CacheDirectory {
  /// Whether a writer is writing into a partial body.
  func isLocked(_ name: BodyName) -> Bool {
    guard let file = try? openBody(name, flags: CacheFile.writing)?.file else { return false }
    return !file.tryLock(.shared)
  }

  /// Opens the file of a partial body and keeps writers away from it until the file is closed. Close it soon:
  /// writers wait for at most a second.
  ///
  /// - Returns: nil if a writer is writing into the file, or if the file does not exist.
  /// - Throws: `CacheError` if the file cannot be opened, for example because too many files are open.
  func openShared(_ name: BodyName) throws(CacheError) -> CacheFile? {
    guard let file = try openBody(name, flags: CacheFile.writing)?.file, file.tryLock(.shared) else {
      return nil
    }
    return file
  }
}

extension OpenDirectory {
  /// Deletes the files of partial bodies whose rows were removed. If a writer is writing into a file, the file stays:
  /// the writer deletes it at its end, unless the file has another row by then. Files that cannot be opened now are
  /// tried again by the next call.
  func removePartialBodies(_ names: [BodyName]) {
    let unopened = unopenedBodies.withLock { bodies in
      defer { bodies = [] }
      return bodies
    }
    for name in names + unopened {
      do throws(CacheError) {
        guard let file = try directory.openShared(name) else { continue }
        withExtendedLifetime(file) { removeIfOrphaned(name) }
      } catch {
        if error.code != .damaged { unopenedBodies.withLock { $0.append(name) } }
      }
    }
  }

  /// Deletes a body file if no row has it.
  func removeIfOrphaned(_ name: BodyName) {
    guard let isKnown = try? hasRow(of: name), !isKnown else { return }
    directory.removeBody(name)
  }

  /// Whether a row has this file.
  func hasRow(of name: BodyName) throws(CacheError) -> Bool {
    try index.number("SELECT id FROM entry WHERE file = ?", [.text(name.fileName)]) != nil
  }
}
