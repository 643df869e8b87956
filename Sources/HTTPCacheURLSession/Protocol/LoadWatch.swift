import Dispatch
import Synchronization

/// Ends a load that makes no progress: Foundation does not time out custom protocols.
///
/// Only time spent waiting for the cache counts, not a slow delegate or a suspended task.
final class LoadWatch: @unchecked Sendable {
  // @unchecked Sendable because a timer of Dispatch may be used from any thread.

  /// Extra time, so that the upstream's own timeout comes first and a stale response may answer.
  private static let grace: TimeInterval = 1

  private let idle: TimeInterval
  private let deadline: DispatchTime
  private let waitingSince = Mutex<DispatchTime?>(nil)
  private let timer = DispatchSource.makeTimerSource()

  /// - Parameters:
  ///   - idle: the longest time without progress, in seconds.
  ///   - total: the longest time in all, in seconds.
  init(idle: TimeInterval, total: TimeInterval) {
    self.idle = idle + Self.grace
    deadline = .now() + total
  }

  /// Starts watching; must be called.
  ///
  /// - Parameters:
  ///   - isPaused: whether the time does not count at this moment.
  func start(
    isPaused: @escaping @Sendable () -> Bool, _ onTimeout: @escaping @Sendable () -> Void
  ) {
    timer.setEventHandler { [weak self] in self?.look(isPaused: isPaused(), onTimeout) }
    timer.schedule(deadline: .now() + min(idle, deadline - .now()))
    timer.activate()
  }

  func end() { timer.cancel() }

  /// Runs `work`, whose time is limited.
  func waiting<Value: Sendable>(_ work: () async throws -> Value) async rethrows -> Value {
    waitingSince.withLock { $0 = .now() }
    defer { waitingSince.withLock { $0 = nil } }
    return try await work()
  }

  private func look(isPaused: Bool, _ onTimeout: @Sendable () -> Void) {
    let now = DispatchTime.now()
    let since = waitingSince.withLock { since in
      if isPaused, since != nil { since = now }
      return since
    }
    let waited = since.map { now - $0 } ?? 0
    if waited >= idle || (now >= deadline && !isPaused) { return onTimeout() }
    timer.schedule(deadline: now + max(0.001, min(idle - waited, max(deadline - now, 1))))
  }
}

extension DispatchTime {
  /// The seconds from `rhs` to `lhs`.
  fileprivate static func - (lhs: DispatchTime, rhs: DispatchTime) -> TimeInterval {
    (TimeInterval(lhs.uptimeNanoseconds) - TimeInterval(rhs.uptimeNanoseconds)) / 1e9
  }
}
