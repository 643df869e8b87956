import HTTPCacheSemantics
import HTTPCacheStore
import Synchronization

/// How far a writer is, and what it has reserved of the room there is: it ends once, for one reason.
final class WriterPhase: Sendable {
  private enum Phase {
    case open
    case finishing
    case ended(CacheError)
  }

  private struct State {
    var phase = Phase.open
    var reserved: Int64 = 0
  }

  private let key: CacheKey
  private let room: WriteRoom
  private let state = Mutex(State())

  init(key: CacheKey, room: WriteRoom) {
    self.key = key
    self.room = room
  }

  /// Whether nothing has ended it yet.
  var isOpen: Bool {
    state.withLock { state in
      if case .open = state.phase { return true }
      return false
    }
  }

  /// Throws why it takes no more, if so.
  func check() throws(CacheError) { try Self.check(state.withLock { $0.phase }, key: key) }

  /// From now on nothing is taken but the end.
  func beginFinish() throws(CacheError) {
    let before = state.withLock { state in
      let before = state.phase
      if case .open = before { state.phase = .finishing }
      return before
    }
    try Self.check(before, key: key)
  }

  private static func check(_ phase: Phase, key: CacheKey) throws(CacheError) {
    switch phase {
    case .open: return
    case .finishing: throw CacheError(.closed, "committed already", key: key)
    case .ended(let error): throw error
    }
  }

  /// Bytes in work that no row counts.
  var reserved: Int64 { state.withLock { $0.reserved } }

  /// Says how many bytes are in work that no row counts.
  func reserve(_ bytes: Int64) {
    let growth = state.withLock { state -> Int64 in
      if case .ended = state.phase { return 0 }
      defer { state.reserved = bytes }
      return bytes - state.reserved
    }
    if growth != 0 { room.add(growth) }
  }

  /// Ends it.
  ///
  /// - Returns: false if it had ended before.
  func end(_ error: CacheError) -> Bool {
    let reserved = state.withLock { state -> Int64? in
      if case .ended = state.phase { return nil }
      state.phase = .ended(error)
      defer { state.reserved = 0 }
      return state.reserved
    }
    guard let reserved else { return false }
    room.add(-reserved)
    return true
  }
}
