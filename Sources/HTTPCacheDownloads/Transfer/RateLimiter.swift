import HTTPCaching
import Synchronization

/// A limit of bytes per second that all transfers of a queue share.
final class RateLimiter: Sendable {
  private struct State {
    var rate: Int64?
    /// Bytes that were taken ahead of their time.
    var debt: Double = 0
    var counted: Duration
  }

  private let clock: any CacheClock
  private let state: Mutex<State>
  /// The longest sleep, so that a change of the rate is noticed.
  private static let step = Duration.seconds(1)

  init(rate: Int64?, clock: any CacheClock) {
    self.clock = clock
    state = Mutex(State(rate: rate.map { max(1, $0) }, counted: clock.uptime))
  }

  /// Changes the limit; nil removes it. Waiting transfers go on by the new limit within a second.
  func setRate(_ rate: Int64?) { state.withLock { $0.rate = rate.map { max(1, $0) } } }

  /// Counts bytes that have arrived, and waits until the next ones may be read. Returns early if the task is
  /// cancelled.
  func take(_ bytes: Int) async {
    var taken = Double(bytes)
    while true {
      let wait = state.withLock { state -> Duration? in
        guard let rate = state.rate else {
          state.debt = 0
          return nil
        }
        let now = clock.uptime
        state.debt = max(0, state.debt - (now - state.counted) / .seconds(1) * Double(rate))
        state.counted = now
        state.debt += taken
        taken = 0
        let seconds = state.debt / Double(rate)
        // A debt that is due within 20 ms is not worth a sleep.
        return seconds > 0.02 ? min(.seconds(seconds), Self.step) : nil
      }
      guard let wait else { return }
      do { try await clock.sleep(for: wait) } catch { return }
    }
  }
}
