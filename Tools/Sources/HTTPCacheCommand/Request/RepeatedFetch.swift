import HTTPCaching

/// Fetches one URL, and again where that failed and another try may succeed.
struct RepeatedFetch: Sendable {
  let fetcher: Fetcher
  let rule: RetryBudget.Rule
  let content: RequestContent?
  /// The most time for each try.
  let limit: Duration?
  /// Is told of each further try.
  let tell: @Sendable (String) -> Void

  /// Fetches.
  ///
  /// - Returns: what became of the last try, and how many tries followed the first.
  func fetch(
    _ request: HTTPRequest, url: String, to destination: Output.Destination
  ) async -> (report: TransferReport, retries: Int) {
    let clock = fetcher.cache.configuration.clock
    let budget = RetryBudget(rule, clock: clock) { tell("\(url): \($0)") }
    var fetcher = fetcher
    fetcher.upstream = RetryingUpstream(
      base: fetcher.upstream, budget: budget, content: content, clock: clock)
    while true {
      let report = await fetcher.fetch(request, url: url, content: content, to: destination, within: limit)
      guard case .failed(let failure) = report.ending, !failure.isBeyondRecall,
        [.unreachable, .timeout, .brokenProtocol].contains(failure.status), content?.isRepeatable ?? true,
        (try? await budget.wait(for: failure.reason)) == true
      else { return (report, budget.count) }
    }
  }
}
