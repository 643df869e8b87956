import HTTPCacheSemantics
import HTTPCacheStore
import Synchronization

/// The phase of a writer, and the bytes it has reserved. A writer ends once, for one reason.
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
  private let reservations: Reservations
  private let state = Mutex(State())

  init(key: CacheKey, reservations: Reservations) {
    self.key = key
    self.reservations = reservations
  }

  /// Whether the writer accepts bytes.
  var isOpen: Bool {
    state.withLock { state in
      if case .open = state.phase { return true }
      return false
    }
  }

  /// Throws the reason if the writer accepts no more bytes.
  func check() throws(CacheError) { try Self.check(state.withLock { $0.phase }, key: key) }

  /// Begins the commit. The writer accepts no more bytes.
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

  /// The bytes being written that no row counts.
  var reserved: Int64 { state.withLock { $0.reserved } }

  /// Sets the number of bytes being written that no row counts.
  func reserve(_ bytes: Int64) {
    let growth = state.withLock { state -> Int64 in
      if case .ended = state.phase { return 0 }
      defer { state.reserved = bytes }
      return bytes - state.reserved
    }
    if growth != 0 { reservations.add(growth) }
  }

  /// Ends the writer.
  ///
  /// - Returns: the bytes that are still reserved, which the caller must release; nil if the writer had ended before.
  func end(_ error: CacheError) -> Int64? {
    state.withLock { state -> Int64? in
      if case .ended = state.phase { return nil }
      state.phase = .ended(error)
      defer { state.reserved = 0 }
      return state.reserved
    }
  }
}
