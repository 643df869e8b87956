import HTTPCacheStore

/// The time limit of a request for a head. Waiting for a leader and waiting for the origin share one limit.
struct HeadLimit: Sendable {
  // On the clock's `uptime`.
  private let deadline: Duration?
  private let isCallers: Bool
  /// Whether the request has spent some of its time waiting for a leader.
  var hasWaited = false

  /// - Parameters:
  ///   - timeout: the caller's limit.
  ///   - defaultTimeout: the upstream's limit, used if the caller gives none.
  init(timeout: Duration?, defaultTimeout: Duration?, clock: any CacheClock) {
    deadline = (timeout ?? defaultTimeout).map { clock.uptime + $0 }
    isCallers = timeout != nil
  }

  /// The time left; nil for no limit.
  func left(at uptime: Duration) -> Duration? { deadline.map { max(.zero, $0 - uptime) } }

  /// The rest of the caller's limit, for the upstream; nil lets the upstream use its own.
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

extension CacheClock {
  /// Runs `body`, and `onLimit` if `body` takes longer than `limit`. `onLimit` must end what `body` waits for, also if
  /// `body` does not wait yet.
  ///
  /// - Parameter limit: the longest time; nil for no limit.
  func limit<Value>(
    _ limit: Duration?, onLimit: @escaping @Sendable () -> Void, _ body: () async throws -> Value
  ) async rethrows -> Value {
    // No caller waits for a year, and a clock may overflow.
    guard let limit, limit < .seconds(366 * 86_400) else { return try await body() }
    return try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        do { try await sleep(for: limit) } catch { return }
        onLimit()
      }
      defer { group.cancelAll() }
      return try await body()
    }
  }
}
