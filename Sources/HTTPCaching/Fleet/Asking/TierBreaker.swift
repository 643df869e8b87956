import Synchronization

/// Leaves a tier alone that does not answer, so that requests do not wait for it. One for the whole tier.
///
/// Three deadlines in a row, or a connection that cannot be made, open the breaker. It lets one attempt through after
/// 250 ms, and after twice the time each time that attempt fails, up to 2 s.
final class TierBreaker: Sendable {
  private struct State {
    var failures = 0
    var pause = TierBreaker.shortestPause
    /// When the next attempt may be made, by the clock's `uptime`; nil while the breaker is closed.
    var retry: Duration?
  }

  private static let failureLimit = 3
  private static let shortestPause = Duration.milliseconds(250)
  private static let longestPause = Duration.seconds(2)

  private let state = Mutex(State())

  /// Whether the breaker is open.
  var isOpen: Bool { state.withLock { $0.retry != nil } }

  /// Whether an attempt may be made now. While the breaker is open, one attempt may be made in each pause.
  func allows(uptime: Duration) -> Bool {
    state.withLock { state in
      guard let retry = state.retry else { return true }
      guard uptime >= retry else { return false }
      state.retry = uptime + state.pause
      return true
    }
  }

  /// The tier answered.
  func succeeded() {
    state.withLock { state in
      state = State()
    }
  }

  /// The tier gave no answer.
  func failed(_ kind: SharedTierError.Kind, uptime: Duration) {
    state.withLock { state in
      switch kind {
      // The server answered: the next request may be another matter.
      case .unavailable, .refused, .protocol: return
      case .timeout: state.failures += 1
      case .unreachable: state.failures = Self.failureLimit
      }
      guard state.failures >= Self.failureLimit else { return }
      if state.retry != nil { state.pause = min(state.pause * 2, Self.longestPause) }
      state.retry = uptime + state.pause
    }
  }
}
