import HTTPCaching

/// Fetches one URL, and tries again after a failure if another try may succeed.
struct RepeatedFetch: Sendable {
  let fetcher: Fetcher
  let rule: RetryBudget.Rule
  let content: RequestContent?
  /// Maximum time for each try.
  let limit: Duration?
  /// Called before each further try.
  let tell: @Sendable (String) -> Void

  /// Fetches.
  ///
  /// - Returns: the result of the last try, and the number of tries after the first.
  func fetch(
    _ request: HTTPRequest, url: String, to destination: Output.Destination
  ) async -> (report: TransferReport, retries: Int) {
    let clock = fetcher.cache.configuration.clock
    let budget = RetryBudget(rule, clock: clock) { tell("\(url): \($0)") }
    var fetcher = fetcher
    fetcher.upstream = RetryingUpstream(
      base: fetcher.upstream, budget: budget, content: content, clock: clock)
    while true {
      let report = await fetcher.fetch(
        request, url: url, content: content, to: destination, within: limit, of: budget)
      guard case .failed(let failure) = report.ending, !failure.isBeyondRecall,
        [.unreachable, .timeout, .brokenProtocol].contains(failure.status), content?.isRepeatable ?? true,
        (try? await budget.wait(for: failure.reason)) == true
      else { return (report, budget.count) }
    }
  }
}
