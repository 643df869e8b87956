import HTTPCacheSemantics
import HTTPCaching

/// Retries a request if the origin cannot be reached, or says that a later try may succeed.
///
/// The cache sees only the last response, so that no response of an earlier try is stored or written.
struct RetryingUpstream: Upstream {
  private static let statuses: Set<Int> = [408, 429, 500, 502, 503, 504]

  let base: any Upstream
  let budget: RetryBudget
  /// The content of the request, which is sent anew with each try.
  let content: RequestContent?
  let clock: any CacheClock

  var defaultTimeout: Duration? { base.defaultTimeout }

  func send(_ request: UpstreamRequest) async throws(UpstreamError) -> UpstreamResponse {
    var request = request
    while true {
      do {
        let response = try await base.send(request)
        guard Self.statuses.contains(response.head.status.code), isRepeatable(request),
          try await wait(
            "status \(response.head.status.code)",
            retryAfter: RetryAfter.seconds(response.head.headerFields, now: clock.now).map { Double($0) })
        else { return response }
        response.body.source.cancel()
      } catch {
        guard Self.isTransient(error.kind), isRepeatable(request), try await wait(error.message)
        else { throw error }
      }
      if request.body != nil {
        do { request.body = try content?.makeBody() } catch {
          throw UpstreamError(.cancelled, "\(error)", cause: error)
        }
      }
    }
  }

  /// Whether another try may succeed.
  static func isTransient(_ kind: UpstreamError.Kind) -> Bool {
    switch kind {
    case .unreachable, .timeout, .protocol: true
    case .tls, .cancelled: false
    @unknown default: false
    }
  }

  private func isRepeatable(_ request: UpstreamRequest) -> Bool {
    request.body == nil || content?.isRepeatable == true
  }

  private func wait(_ reason: String, retryAfter: Double? = nil) async throws(UpstreamError) -> Bool {
    do { return try await budget.wait(for: reason, retryAfter: retryAfter) } catch {
      throw UpstreamError(.cancelled, "interrupted", cause: error)
    }
  }
}
