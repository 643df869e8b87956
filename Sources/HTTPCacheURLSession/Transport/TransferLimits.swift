/// How long a request may take.
struct TransferLimits: Sendable {
  /// The longest time without any arriving byte.
  let idle: Duration
  /// The longest time until the whole response has arrived.
  let whole: Duration
  /// When the whole response must have arrived.
  let deadline: ContinuousClock.Instant

  /// About a year: no caller waits longer, and a clock may overflow.
  private static let longest: TimeInterval = 30_000_000

  /// - Parameters: seconds.
  init(idle: TimeInterval, whole: TimeInterval) {
    self.idle = .seconds(min(max(idle, 0), Self.longest))
    self.whole = .seconds(min(max(whole, 0), Self.longest))
    deadline = .now + self.whole
  }
}
