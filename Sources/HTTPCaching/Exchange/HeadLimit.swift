import HTTPCacheStore

/// Until when a request waits for a head: that of a leader and that of the origin take the same time.
struct HeadLimit: Sendable {
  // On the clock's `uptime`.
  private let deadline: Duration?
  private let isCallers: Bool
  /// Whether some of the time has passed while another request was waited for.
  var hasWaited = false

  /// - Parameters:
  ///   - timeout: the caller's.
  ///   - defaultTimeout: the upstream's, which holds where the caller gives none.
  init(timeout: Duration?, defaultTimeout: Duration?, clock: any CacheClock) {
    deadline = (timeout ?? defaultTimeout).map { clock.uptime + $0 }
    isCallers = timeout != nil
  }

  /// The time left; nil for no limit.
  func left(at uptime: Duration) -> Duration? { deadline.map { max(.zero, $0 - uptime) } }

  /// The limit for the upstream: what is left of the caller's; nil leaves the upstream its own.
  ///
  /// - Throws: `UpstreamError.timeout` if no time is left.
  func forUpstream(at uptime: Duration) throws(UpstreamError) -> Duration? {
    guard isCallers || hasWaited, let left = left(at: uptime) else { return nil }
    guard left > .zero else { throw UpstreamError(.timeout, "no time was left to ask the origin") }
    return left
  }

  /// Whether an upstream failed because the caller allowed no more time.
  func isCause(of error: UpstreamError, at uptime: Duration) -> Bool {
    error.kind == .cancelled
      || error.kind == .timeout && isCallers && left(at: uptime) == .zero
  }
}
