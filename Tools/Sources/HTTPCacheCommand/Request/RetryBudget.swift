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

    init(count: Int = 0, delay: Double? = nil, maxTime: Double? = nil) {
      self.count = count
      self.delay = delay
      self.maxTime = maxTime
    }

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
  private let tries = Mutex(0)
  private let tell: @Sendable (String) -> Void

  /// Makes a budget; its time begins now.
  ///
  /// - Parameter tell: receives a message with the reason and time of each further try.
  init(_ rule: Rule, clock: any CacheClock = SystemClock(), tell: @escaping @Sendable (String) -> Void) {
    self.rule = rule
    self.clock = clock
    self.tell = tell
    start = clock.uptime
  }

  /// Number of tries after the first.
  var count: Int { tries.withLock { $0 } }

  /// Waits until the next try.
  ///
  /// - Returns: false if there is no further try.
  /// - Throws: `CancellationError`.
  func wait(for reason: String, retryAfter: Double? = nil) async throws -> Bool {
    let elapsed = (clock.uptime - start) / .seconds(1)
    let next = tries.withLock { tries -> (pause: Double, number: Int)? in
      guard let pause = rule.pause(after: tries, elapsed: elapsed, retryAfter: retryAfter) else { return nil }
      tries += 1
      return (pause, tries)
    }
    guard let next else { return false }
    let pause = Duration.seconds(next.pause)
    let moment = next.pause > 0 ? "in \(HumanText.duration(pause))" : "now"
    tell("\(reason); trying again \(moment) (\(next.number) of \(rule.count))")
    try await clock.sleep(for: pause)
    return true
  }
}
