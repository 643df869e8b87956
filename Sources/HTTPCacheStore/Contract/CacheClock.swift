import HTTPCacheLibC
public import HTTPCacheSemantics

/// The source of time, injected so that tests need not wait.
public protocol CacheClock: Sendable {
  /// Wall time, for HTTP arithmetic. It may jump.
  var now: Timestamp { get }

  /// Monotonic time since some fixed moment, for waiting.
  var uptime: Duration { get }

  /// Suspends for `duration`.
  ///
  /// - Throws: `CancellationError` when the task is cancelled.
  func sleep(for duration: Duration) async throws
}

/// The system's clocks.
public struct SystemClock: CacheClock {
  /// Makes a clock.
  public init() {}

  /// Wall time of the system.
  public var now: Timestamp {
    var time = timespec()
    #if os(Linux)
      // Up to 4 ms behind, at a third of the cost; the times of HTTP are whole seconds.
      clock_gettime(CLOCK_REALTIME_COARSE, &time)
    #else
      clock_gettime(CLOCK_REALTIME, &time)
    #endif
    return Timestamp(seconds: Int64(time.tv_sec))
  }

  /// Monotonic time of the system.
  public var uptime: Duration {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
  }

  /// Suspends for `duration`.
  ///
  /// - Throws: `CancellationError` when the task is cancelled.
  public func sleep(for duration: Duration) async throws {
    try await Task.sleep(for: duration)
  }
}
