import HTTPCaching

/// How long a request may take.
struct TransferLimits: Sendable {
  /// The longest time without any arriving byte.
  let idle: Duration
  /// The longest time until the whole response has arrived.
  let whole: Duration
  /// The system's uptime when the whole response must have arrived.
  let deadline: Duration

  /// About a year: no caller waits longer, and a clock may overflow.
  static let longest: TimeInterval = 30_000_000

  /// The error of a response that is late.
  static let late = UpstreamError(
    .timeout, "the origin sent nothing in time", cause: URLError(.timedOut))

  /// - Parameters: seconds.
  init(idle: TimeInterval, whole: TimeInterval) {
    self.idle = .seconds(min(max(idle, 0), Self.longest))
    self.whole = .seconds(min(max(whole, 0), Self.longest))
    deadline = SystemClock().uptime + self.whole
  }
}
