import HTTPCacheStore
import Synchronization

/// The file that a writer writes into: made when the first bytes go there, and given its final name
/// before its first row.
final class BodyFile: Sendable {
  /// What becomes of the file when its writer ends.
  enum Outcome {
    /// A row has it.
    case stored
    /// It stays if a row has it.
    case kept
    /// It goes; so does its row, if it got one meanwhile.
    case discarded
  }

  private struct State {
    var name: BodyName?
    var file: OpenFile?
    var lock: BodyLock?
    var isPublished = false
    var hasEnded = false
  }

  private let store: DiskStore
  private let opened: OpenDirectory
  private let state: Mutex<State>

  /// A file that is yet to be made.
  init(store: DiskStore, opened: OpenDirectory) {
    self.store = store
    self.opened = opened
    state = Mutex(State())
  }

  /// The file of a partial body that is stored.
  init(
    store: DiskStore, opened: OpenDirectory, name: BodyName, file: OpenFile, lock: BodyLock
  ) {
    self.store = store
    self.opened = opened
    state = Mutex(State(name: name, file: file, lock: lock, isPublished: true))
  }

  /// Its name; nil before it was made.
  var name: BodyName? { state.withLock { $0.name } }

  /// Whether its writer has ended.
  var hasEnded: Bool { state.withLock { $0.hasEnded } }

  /// The open file, which is made first if need be.
  ///
  /// - Parameter isWhole: whether all of the body is written now, with its row after it. Then the file gets
  ///   its final name at once: what is cut short has no row, under whatever name.
  /// - Throws: `CacheError.closed` if its writer has ended; `CacheError.io`, `CacheError.noSpace`.
  func open(isWhole: Bool = false) throws(CacheError) -> OpenFile {
    if let file = state.withLock({ $0.file }) { return file }
    let name = try opened.startBody()
    let isPublished = isWhole && store.durability == .relaxed
    let file: OpenFile
    do throws(CacheError) {
      file = try opened.directory.createBody(name, isTemporary: !isPublished)
    } catch {
      opened.finished(name)
      throw error
    }
    let isWanted = state.withLock { state in
      guard !state.hasEnded else { return false }
      state.name = name
      state.file = file
      state.isPublished = isPublished
      return true
    }
    guard isWanted else {
      opened.directory.removeBody(name, isTemporary: !isPublished)
      opened.finished(name)
      throw CacheError(.closed, "the writer gave up")
    }
    return file
  }

  /// Gives it its final name, if it has not got it, so that it can get a row.
  ///
  /// - Throws: `CacheError.closed` if its writer has ended; `CacheError.io`.
  func publish() throws(CacheError) -> BodyName {
    let (name, file, isPublished) = state.withLock { ($0.name, $0.file, $0.isPublished) }
    guard let name, let file else { throw CacheError(.io, "no file was made") }
    let durably = store.durability == .durable
    if durably { try file.sync() }
    if !isPublished {
      try opened.directory.publishBody(name, durably: durably)
      let hasEnded = state.withLock { state in
        state.isPublished = true
        return state.hasEnded
      }
      guard !hasEnded else {
        opened.directory.removeBody(name)
        throw CacheError(.closed, "the writer gave up")
      }
    }
    return name
  }

  /// The same for a file that is still written into: it gets its lock first.
  ///
  /// - Returns: nil where that cannot be; nothing is lost by it but what would be found after a crash.
  func publishUnfinished() -> BodyName? {
    guard let name = try? publish() else { return nil }
    if state.withLock({ $0.lock != nil }) { return name }
    guard let lock = BodyLock(name, in: opened.directory) else { return nil }
    return state.withLock { state in
      guard !state.hasEnded else { return nil }
      state.lock = lock
      return name
    }
  }

  /// Says that nothing more is written.
  ///
  /// - Parameter reserved: bytes that are reserved for it; released once the file is deleted, or has its row.
  func end(_ outcome: Outcome, reserved: Int64 = 0) {
    // After this unlock, the transaction that removes the row deletes the file. If the row was removed earlier,
    // the file is deleted below.
    let ended: (name: BodyName?, wasLocked: Bool, isPublished: Bool)? = state.withLock { state in
      guard !state.hasEnded else { return nil }
      state.hasEnded = true
      let wasLocked = state.lock != nil
      state.lock = nil
      return (state.name, wasLocked, state.isPublished)
    }
    let (store, opened) = (store, opened)
    guard let ended, let name = ended.name else { return opened.reservations.add(-reserved) }
    var reserved = reserved
    if case .stored = outcome {
      opened.reservations.add(-reserved)
      reserved = 0
      if !ended.wasLocked { return opened.finished(name) }
    }
    // On the index thread, so that `flush` waits for it.
    store.indexQueue.submit { [reserved] in
      switch outcome {
      case .stored, .kept:
        if ended.isPublished {
          opened.removeIfOrphaned(name)
        } else {
          opened.deleteBody(name, isTemporary: true, bytes: reserved)
        }
      case .discarded:
        // Its row may be inserted at this moment.
        if ended.wasLocked { store.removePartial(file: name, in: opened) }
        // Also if the index cannot be read: a row without its file is a miss.
        opened.deleteBody(name, isTemporary: !ended.isPublished, bytes: reserved)
      }
      opened.reservations.add(-reserved)
      opened.finished(name)
    }
  }
}
