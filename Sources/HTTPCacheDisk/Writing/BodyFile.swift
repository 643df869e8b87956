import HTTPCacheFiles
import HTTPCacheSemantics
import HTTPCacheStore
import Synchronization

/// The file of a writer, the bytes that the writer has reserved, and whether the writer accepts bytes. The file is
/// made when the first bytes are written. Without a row it counts for nothing. A writer ends once, for one reason.
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

  private enum Phase {
    case open
    case finishing
    case ended(CacheError)
  }

  private struct State {
    var phase = Phase.open
    var name: BodyName?
    var file: CacheFile?
    var lock: BodyLock?
    var reserved: Int64 = 0

    var hasEnded: Bool {
      if case .ended = phase { return true }
      return false
    }
  }

  private let key: CacheKey
  private let store: DiskStore
  private let opened: OpenDirectory
  private let state: Mutex<State>

  /// - Parameter stored: a stored partial body to which bytes are added; nil if the file is not made yet.
  init(of key: CacheKey, store: DiskStore, opened: OpenDirectory, stored: GrowingPart?) {
    self.key = key
    self.store = store
    self.opened = opened
    state = Mutex(State(name: stored?.name, file: stored?.file, lock: stored?.lock))
  }

  /// Whether the writer accepts bytes.
  var isOpen: Bool {
    if case .open = state.withLock({ $0.phase }) { return true }
    return false
  }

  /// Throws the reason if the writer accepts no more bytes.
  ///
  /// - Parameter isLast: whether the writer accepts no more bytes from now on, because it commits.
  func check(isLast: Bool = false) throws(CacheError) {
    let phase = state.withLock { state in
      let phase = state.phase
      if isLast, case .open = phase { state.phase = .finishing }
      return phase
    }
    switch phase {
    case .open: return
    case .finishing: throw CacheError(.closed, "committed already", key: key)
    case .ended(let error): throw error
    }
  }

  // MARK: Reserved bytes

  /// The bytes being written that no row counts.
  var reserved: Int64 { state.withLock { $0.reserved } }

  /// Sets the number of bytes being written that no row counts.
  func reserve(_ bytes: Int64) {
    let growth = state.withLock { state -> Int64 in
      if state.hasEnded { return 0 }
      defer { state.reserved = bytes }
      return bytes - state.reserved
    }
    if growth != 0 { opened.reservations.add(growth) }
  }

  // MARK: The file

  /// The name of the file; nil before the file is made.
  var name: BodyName? { state.withLock { $0.name } }

  /// The open file; makes it at the first call.
  ///
  /// - Throws: `CacheError.closed` if the writer has ended; `CacheError.io`, `CacheError.noSpace`.
  func open() throws(CacheError) -> CacheFile {
    if let file = state.withLock({ $0.file }) { return file }
    let name = try opened.ownership.startBody()
    let file: CacheFile
    do throws(CacheError) {
      file = try opened.directory.createBody(name)
    } catch {
      opened.ownership.finished(name)
      throw error
    }
    let isWanted = state.withLock { state in
      if state.hasEnded { return false }
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
      if state.hasEnded { return nil }
      state.lock = lock
      return name
    }
  }

  // MARK: The end

  /// Ends the writer. Its reserved bytes are released when the file has its row or is deleted.
  ///
  /// - Returns: false if the writer had ended before.
  @discardableResult
  func end(_ error: CacheError, _ outcome: Outcome) -> Bool {
    // After this unlock, the transaction that removes the row deletes the file. If the row was removed
    // earlier, the file is deleted below.
    let ended: (name: BodyName?, wasLocked: Bool, reserved: Int64)? = state.withLock { state in
      if state.hasEnded { return nil }
      defer { state = State(phase: .ended(error), name: state.name, file: state.file) }
      return (state.name, state.lock != nil, state.reserved)
    }
    guard let ended else { return false }
    release(ended.name, wasLocked: ended.wasLocked, reserved: ended.reserved, as: outcome)
    return true
  }

  private func release(_ name: BodyName?, wasLocked: Bool, reserved: Int64, as outcome: Outcome) {
    let opened = opened
    guard let name else { return opened.reservations.add(-reserved) }
    if case .stored = outcome, !wasLocked {
      opened.reservations.add(-reserved)
      return opened.ownership.finished(name)
    }
    // On the index thread, so that `flush` waits for it.
    store.thread.queue.submit {
      switch outcome {
      case .stored, .kept: opened.removeIfOrphaned(name)
      case .discarded:
        // The row may be inserted at this moment.
        if wasLocked {
          _ = try? opened.removeRows(where: "file = ? AND partial = 1", [.text(name.fileName)])
        }
        // After the lock was released, another process may have completed the entry of a partial body. Delete the file
        // even if the index cannot be read: a row without its file is a miss.
        if !wasLocked || (try? opened.hasRow(of: name)) != true {
          opened.deleteBody(name, bytes: reserved)
        }
      }
      opened.reservations.add(-reserved)
      opened.ownership.finished(name)
    }
  }
}
