import Foundation
import HTTPCacheDownloads
import HTTPCaching
import Synchronization

/// Decides how often and when to retry one URL.
final class RetryBudget: Sendable {
  /// The times between tries.
  struct Rule: Sendable {
    /// Maximum number of tries after the first.
    var count = 0
    /// Seconds before each of these tries; nil is 1, then twice as long each time, 600 at most.
    var delay: Double?
    /// No try begins later than this many seconds after the first.
    var maxTime: Double?

    /// The longest `Retry-After` in seconds, as in a queue; a longer one counts as this.
    private static let longestRetryAfter = Double(DownloadQueue.Configuration().longestRetryAfter)

    /// Seconds to wait before the next try; nil if there is no further try.
    ///
    /// - Parameters:
    ///   - tries: number of tries after the first so far.
    ///   - elapsed: seconds since the first try began.
    ///   - retryAfter: seconds that the origin asks to wait, any number.
    func pause(after tries: Int, elapsed: Double, retryAfter: Double?) -> Double? {
      guard tries < count else { return nil }
      let own = delay ?? min(600, pow(2, Double(min(tries, 10))))
      let pause = max(own, min(retryAfter ?? 0, Self.longestRetryAfter))
      if let maxTime, elapsed + pause > maxTime { return nil }
      return pause
    }
  }

  private let rule: Rule
  private let clock: any CacheClock
  private let start: Duration
  private let state: Mutex<State>
  private let tell: @Sendable (String) -> Void

  private struct State {
    /// Number of tries after the first.
    var tries = 0
    /// When the latest try begins, on the clock's `uptime`.
    var tryStart: Duration
  }

  /// Makes a budget; its time begins now.
  ///
  /// - Parameter tell: receives a message with the reason and time of each further try.
  init(_ rule: Rule, clock: any CacheClock = SystemClock(), tell: @escaping @Sendable (String) -> Void) {
    self.rule = rule
    self.clock = clock
    self.tell = tell
    start = clock.uptime
    state = Mutex(State(tryStart: start))
  }

  /// Number of tries after the first.
  var count: Int { state.withLock { $0.tries } }

  /// Waits until the next try.
  ///
  /// - Returns: false if there is no further try.
  /// - Throws: `CancellationError`.
  func wait(for reason: String, retryAfter: Double? = nil) async throws -> Bool {
    let now = clock.uptime
    let next = state.withLock { state -> (pause: Double, number: Int)? in
      guard
        let pause = rule.pause(
          after: state.tries, elapsed: (now - start) / .seconds(1), retryAfter: retryAfter)
      else { return nil }
      state.tries += 1
      state.tryStart = now + .seconds(pause)
      return (pause, state.tries)
    }
    guard let next else { return false }
    let pause = Duration.seconds(next.pause)
    let moment = next.pause > 0 ? "in \(HumanText.duration(pause))" : "now"
    tell("\(reason); trying again \(moment) (\(next.number) of \(rule.count))")
    try await clock.sleep(for: pause)
    return true
  }

  /// Waits until a try has taken so long. The times between tries do not count.
  ///
  /// - Throws: `CancellationError`.
  func waitForTry(longerThan limit: Duration) async throws {
    while true {
      let left = state.withLock { $0.tryStart } + limit - clock.uptime
      guard left > .zero else { return }
      try await clock.sleep(for: left)
    }
  }
}
