import HTTPCacheStore

/// Sends requests to the origin; each door provides one. It never follows redirects and never caches.
public protocol Upstream: Sendable {
  /// Sends a request and returns when the head of the final response has arrived; the body is
  /// pulled from the result.
  ///
  /// - Throws: `UpstreamError`.
  func send(_ request: UpstreamRequest) async throws(UpstreamError) -> UpstreamResponse

  /// The longest time that `send` waits for a head if a request has no `timeout`; nil if `send` has no limits. Then it is
  /// cancelled at the `timeout` of a request. Followers wait no longer than this either.
  var defaultTimeout: Duration? { get }
}

extension Upstream {
  /// No limits.
  public var defaultTimeout: Duration? { nil }

  /// Sends a request, and cancels it at its `timeout` if this upstream has no limits itself.
  ///
  /// - Parameter clock: measures the time.
  /// - Throws: `UpstreamError`; `.timeout` if it was cancelled.
  func send(
    _ request: UpstreamRequest, limitedBy clock: any CacheClock
  ) async throws(UpstreamError) -> UpstreamResponse {
    // No caller waits for a year, and a clock may overflow.
    guard let timeout = request.timeout, defaultTimeout == nil, timeout < .seconds(366 * 86_400) else {
      return try await send(request)
    }
    let result = await withTaskGroup(of: Result<UpstreamResponse, UpstreamError>?.self) { group in
      group.addTask {
        do throws(UpstreamError) { return .success(try await send(request)) } catch { return .failure(error) }
      }
      group.addTask {
        try? await clock.sleep(for: timeout)
        return nil
      }
      var first = await group.next() ?? nil
      // The upstream tells how it ends for a caller that is cancelled, which ends the wait, too.
      if first == nil, Task.isCancelled { first = await group.next() ?? nil }
      group.cancelAll()
      for await late in group { try? late?.get().body.source.cancel() }
      return first
    }
    guard let result else { throw UpstreamError(.timeout, "no head of a response within the time limit") }
    return try result.get()
  }
}
