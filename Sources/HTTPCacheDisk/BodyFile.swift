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
  private let parts: StoreParts
  private let state: Mutex<State>

  /// A file that is yet to be made.
  init(store: DiskStore, parts: StoreParts) {
    self.store = store
    self.parts = parts
    state = Mutex(State())
  }

  /// The file of a partial body that is stored.
  init(
    store: DiskStore, parts: StoreParts, name: BodyName, file: OpenFile, lock: BodyLock
  ) {
    self.store = store
    self.parts = parts
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
    let name = try parts.startBody()
    let isPublished = isWhole && store.durability == .relaxed
    let file: OpenFile
    do throws(CacheError) {
      file = try parts.directory.createBody(name, isTemporary: !isPublished)
    } catch {
      parts.finished(name)
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
      parts.directory.removeBody(name, isTemporary: !isPublished)
      parts.finished(name)
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
      try parts.directory.publishBody(name, durably: durably)
      let hasEnded = state.withLock { state in
        state.isPublished = true
        return state.hasEnded
      }
      guard !hasEnded else {
        parts.directory.removeBody(name)
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
    guard let lock = BodyLock(name, in: parts.directory) else { return nil }
    return state.withLock { state in
      guard !state.hasEnded else { return nil }
      state.lock = lock
      return name
    }
  }

  /// Says that nothing more is written.
  ///
  /// - Parameter room: what was reserved for it, until it is deleted.
  func end(_ outcome: Outcome, holding room: HeldRoom? = nil) {
    // Whoever takes the row away from here on finds the file unlocked, and deletes it; whoever did so
    // before left that to us.
    let ended: (name: BodyName?, wasLocked: Bool, isPublished: Bool)? = state.withLock { state in
      guard !state.hasEnded else { return nil }
      state.hasEnded = true
      let wasLocked = state.lock != nil
      state.lock = nil
      return (state.name, wasLocked, state.isPublished)
    }
    guard let ended, let name = ended.name else { return }
    let (store, parts) = (store, parts)
    if case .stored = outcome, !ended.wasLocked { return parts.finished(name) }
    // Where whoever has to know that it is gone can wait for it.
    store.indexQueue.submit {
      switch outcome {
      case .stored, .kept:
        if ended.isPublished {
          parts.removeIfOrphaned(name)
        } else {
          parts.deleteRowless(name, isTemporary: true, bytes: room?.count ?? 0)
        }
      case .discarded:
        // It may be getting one just now.
        if ended.wasLocked { store.removePartial(file: name, in: parts) }
        // Even where the index cannot be asked: a row without its file is a miss.
        parts.deleteRowless(name, isTemporary: !ended.isPublished, bytes: room?.count ?? 0)
      }
      room?.release()
      parts.finished(name)
    }
  }
}
