import HTTPCaching

/// Fetches one URL through the cache and writes its body.
struct Fetcher: Sendable {
  let cache: HTTPCache
  var upstream: any Upstream
  let recorder: StorageRecorder
  let meter: ProgressMeter
  var policy: CachePolicy = .standard
  var options = RequestOptions()
  /// Whether the head is written before the body.
  var includesHead = false
  /// Whether to explain the decisions about the request and the response.
  var explains = false
  /// Whether to leave out the body of a response with a status of 400 or more.
  var failsOnError = false
  /// How to handle a response before its body is written.
  var handling = ResponseHandling()
  /// Whether to report only failures: neither a body that is too large to be stored, nor a FIFO without a reader.
  var isQuiet = false
  /// Whether to refuse a binary body if standard output is a terminal.
  var protectsTerminal = false
  /// Whether certificates are not checked.
  var isInsecure = false

  /// Why a request bypasses the cache, if it does. A `Host` that is not that of the URL selects no policy.
  var bypass: String {
    if isInsecure { return "--insecure" }
    return policy == .bypass ? policy.option : "its Host is not that of the URL"
  }

  /// Fetches.
  ///
  /// - Parameters:
  ///   - limit: the most time for each try.
  ///   - budget: that of the tries which the upstream makes.
  func fetch(
    _ request: HTTPRequest, url: String, content: RequestContent?, to destination: Output.Destination,
    within limit: Duration?, of budget: RetryBudget
  ) async -> TransferReport {
    // Explain before fetching, because fetching changes the decisions. A request that cannot be explained fails below.
    let explanation =
      explains
      ? try? cache.explain(
        request, content: content?.bytes ?? BodyBytes(), policy: policy, options: options) : nil
    let start = cache.configuration.clock.uptime
    let ending = await withTimeLimit(limit, of: budget) {
      await end(of: request, url: url, content: content, to: destination)
    }
    let elapsed = cache.configuration.clock.uptime - start
    return TransferReport(url: url, elapsed: elapsed, ending: ending, explanation: explanation)
  }

  private func end(
    of request: HTTPRequest, url: String, content: RequestContent?, to destination: Output.Destination
  ) async -> TransferReport.Ending {
    do {
      let output = try Output(destination, isNamedByHead: handling.usesHeaderName)
      let transport = ObservedUpstream(upstream)
      var transfer = FileTransfer(
        fetcher: self, request: request, url: url, content: content, destination: destination,
        output: output, transport: transport)
      let ending = await transfer.run(policy)
      guard case .failed(let failure) = ending, failure.isDamage, policy != .cacheOnly, !output.isStream,
        content?.isRepeatable ?? true
      else { return ending }
      // The stored body is damaged, and no byte of it was delivered yet: fetch again.
      return await transfer.run(.reload)
    } catch {
      return .failed(.output, "\(error)")
    }
  }

  /// Why the response was stored or not; nil if no response came from the origin.
  func explanation(
    of answer: TransferReport.Answer, _ head: HTTPResponse, to request: HTTPRequest
  ) -> CacheExplanation? {
    guard case .forwarded = answer.outcome else { return nil }
    var explanation = CacheExplanation.storage(
      request: options.adding(to: request), response: head, rules: cache.configuration.rules,
      now: cache.configuration.clock.now)
    let outcome = answer.outcomeText
    guard let refusal = outcome.refusal else { return explanation }
    explanation.conclude(refusedFor: CacheExplanation.refusal(refusal))
    return explanation
  }

  /// Cancels `body` after the time limit, and reports its failure as a timeout.
  private func withTimeLimit(
    _ limit: Duration?, of budget: RetryBudget,
    _ body: @escaping @Sendable () async -> TransferReport.Ending
  ) async -> TransferReport.Ending {
    guard let limit else { return await body() }
    return await withTaskGroup(of: TransferReport.Ending?.self) { group in
      group.addTask { await body() }
      group.addTask {
        try? await budget.waitForTry(longerThan: limit)
        return nil
      }
      var isLate = false
      for await ending in group {
        guard let ending else {
          isLate = !Task.isCancelled
          group.cancelAll()
          continue
        }
        group.cancelAll()
        if case .failed(var failure) = ending, isLate {
          failure.status = .timeout
          failure.reason = "not complete within \(HumanText.duration(limit)) (--max-time)"
          return .failed(failure)
        }
        return ending
      }
      return .failed(.interrupted, "interrupted")
    }
  }
}
