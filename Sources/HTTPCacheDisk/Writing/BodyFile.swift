import HTTPCacheStore
import Synchronization

/// The file of a writer. It is made when the first bytes are written. Without a row it counts for nothing.
final class BodyFile: Sendable {
  /// The result of a writer for its file.
  enum Outcome {
    /// The file has a row.
    case stored
    /// The file stays if it has a row.
    case kept
    /// The file is deleted, together with its row if it has one.
    case discarded
  }

  private struct State {
    var name: BodyName?
    var file: OpenFile?
    var lock: BodyLock?
    var hasEnded = false
  }

  private let store: DiskStore
  private let opened: OpenDirectory
  private let state: Mutex<State>

  /// A file that is not made yet.
  init(store: DiskStore, opened: OpenDirectory) {
    self.store = store
    self.opened = opened
    state = Mutex(State())
  }

  /// The file of a stored partial body.
  init(
    store: DiskStore, opened: OpenDirectory, name: BodyName, file: OpenFile, lock: BodyLock
  ) {
    self.store = store
    self.opened = opened
    state = Mutex(State(name: name, file: file, lock: lock))
  }

  /// The name of the file; nil before the file is made.
  var name: BodyName? { state.withLock { $0.name } }

  /// The open file; makes it at the first call.
  ///
  /// - Throws: `CacheError.closed` if the writer has ended; `CacheError.io`, `CacheError.noSpace`.
  func open() throws(CacheError) -> OpenFile {
    if let file = state.withLock({ $0.file }) { return file }
    let name = try opened.ownership.startBody()
    let file: OpenFile
    do throws(CacheError) {
      file = try opened.directory.createBody(name)
    } catch {
      opened.ownership.finished(name)
      throw error
    }
    let isWanted = state.withLock { state in
      guard !state.hasEnded else { return false }
      state.name = name
      state.file = file
      return true
    }
    guard isWanted else {
      opened.directory.removeBody(name)
      opened.ownership.finished(name)
      throw CacheError(.closed, "the writer gave up")
    }
    return file
  }

  /// The name of the file for its row. Syncs the file first if commits are synced.
  ///
  /// - Throws: `CacheError.io`.
  func prepareForRow() throws(CacheError) -> BodyName {
    let (name, file) = state.withLock { ($0.name, $0.file) }
    guard let name, let file else { throw CacheError(.io, "no file was made") }
    if store.options.durability == .durable {
      try file.sync()
      try opened.directory.syncBodyNames()
    }
    return name
  }

  /// Prepares a file that is still being written for its row, and takes its lock.
  ///
  /// - Returns: nil if that fails. The body is then not found after a crash; nothing else is lost.
  func prepareUnfinished() -> BodyName? {
    guard let name = try? prepareForRow() else { return nil }
    if state.withLock({ $0.lock != nil }) { return name }
    guard let lock = BodyLock(name, in: opened.directory) else { return nil }
    return state.withLock { state in
      guard !state.hasEnded else { return nil }
      state.lock = lock
      return name
    }
  }

  /// Ends writing to the file.
  ///
  /// - Parameter reserved: bytes reserved for the body; released when the file has its row or is deleted.
  func end(_ outcome: Outcome, reserved: Int64 = 0) {
    // After this unlock, the transaction that removes the row deletes the file. If the row was removed
    // earlier, the file is deleted below.
    let ended: (name: BodyName?, wasLocked: Bool)? = state.withLock { state in
      guard !state.hasEnded else { return nil }
      state.hasEnded = true
      let wasLocked = state.lock != nil
      state.lock = nil
      return (state.name, wasLocked)
    }
    let (store, opened) = (store, opened)
    guard let ended, let name = ended.name else { return opened.reservations.add(-reserved) }
    var reserved = reserved
    if case .stored = outcome {
      opened.reservations.add(-reserved)
      reserved = 0
      if !ended.wasLocked { return opened.ownership.finished(name) }
    }
    // On the index thread, so that `flush` waits for it.
    store.indexQueue.submit { [reserved] in
      switch outcome {
      case .stored, .kept: opened.removeIfOrphaned(name)
      case .discarded:
        // The row may be inserted at this moment.
        if ended.wasLocked { store.removePartial(file: name, in: opened) }
        // Delete the file even if the index cannot be read: a row without its file is a miss.
        opened.deleteBody(name, bytes: reserved)
      }
      opened.reservations.add(-reserved)
      opened.ownership.finished(name)
    }
  }
}
