import Synchronization

/// Leaves a tier alone that does not answer, so that requests do not wait for it. One for the whole tier: a server of a
/// cluster that hangs opens it for all servers.
///
/// Three deadlines in a row, or a connection that cannot be made, open the breaker. It lets one attempt through after
/// 250 ms, and after twice the time each time that attempt fails, up to 2 s.
final class TierBreaker: Sendable {
  /// How a question passes the breaker.
  enum Passage: Sendable {
    /// The breaker was closed, or was not asked.
    case ordinary
    /// The breaker is open, and lets this attempt through.
    case trial
  }

  private struct State {
    var failures = 0
    /// When the last deadline passed, by the clock's `uptime`.
    var lastTimeout: Duration?
    var pause = TierBreaker.shortestPause
    /// When the next attempt may be made, by the clock's `uptime`; nil while the breaker is closed.
    var retry: Duration?
  }

  private static let failureLimit = 3
  private static let shortestPause = Duration.milliseconds(250)
  private static let longestPause = Duration.seconds(2)
  /// How long a deadline counts although other questions are answered.
  private static let timeoutMemory = Duration.seconds(1)

  private let state = Mutex(State())

  /// Whether the breaker is open, and lets no attempt through now.
  func isOpen(uptime: Duration) -> Bool { state.withLock { $0.retry.map { uptime < $0 } ?? false } }

  /// How a question passes now; nil if it must not be asked. While the breaker is open, one attempt passes in each pause.
  func passage(uptime: Duration) -> Passage? {
    state.withLock { state in
      guard let retry = state.retry else { return .ordinary }
      guard uptime >= retry else { return nil }
      state.retry = uptime + state.pause
      return .trial
    }
  }

  /// The tier answered.
  func succeeded(_ passage: Passage, uptime: Duration) {
    state.withLock { state in
      // An answer to a question that began before the breaker opened tells nothing of the server that hangs.
      if passage == .trial { (state.retry, state.pause) = (nil, Self.shortestPause) }
      // If one server of a cluster hangs, the others answer between its deadlines.
      if let last = state.lastTimeout, uptime - last <= Self.timeoutMemory { return }
      state.failures = 0
    }
  }

  /// The tier gave no answer.
  func failed(_ kind: SharedTierError.Kind, _ passage: Passage = .ordinary, uptime: Duration) {
    state.withLock { state in
      switch kind {
      // The server answered: the next request may be another matter.
      case .unavailable, .refused, .protocol: return
      case .timeout:
        state.failures += 1
        state.lastTimeout = uptime
      case .unreachable: state.failures = Self.failureLimit
      }
      guard state.failures >= Self.failureLimit else { return }
      if state.retry != nil {
        // Questions that began before the breaker opened fail beside each other, and tell nothing new.
        guard passage == .trial else { return }
        state.pause = min(state.pause * 2, Self.longestPause)
      }
      state.retry = uptime + state.pause
    }
  }
}
