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
      // Standard output may have got a part of the body already.
      guard case .failed(let status, let message) = report.ending, destination != .standardOutput,
        [.unreachable, .timeout, .brokenProtocol].contains(status), content?.isRepeatable ?? true,
        (try? await budget.wait(for: message)) == true
      else { return (report, budget.count) }
    }
  }
}
