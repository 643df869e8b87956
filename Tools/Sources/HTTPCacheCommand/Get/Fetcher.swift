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
  /// Whether to explain what is done with the request and with the response.
  var explains = false
  /// Whether the body of an answer with a status of 400 and more is left out.
  var failsOnError = false
  /// What is done with a response before its body is written.
  var handling = ResponseHandling()

  /// Fetches.
  ///
  /// - Parameter limit: the most time for all of it.
  func fetch(
    _ request: HTTPRequest, url: String, content: RequestContent?, to destination: Output.Destination,
    within limit: Duration?
  ) async -> TransferReport {
    // Before it is done, since that changes what would be said; what cannot be explained fails below.
    let explanation =
      explains
      ? try? cache.explain(
        request, content: content?.bytes ?? BodyBytes(), policy: policy, options: options) : nil
    let start = cache.configuration.clock.uptime
    let ending = await withTimeLimit(limit) {
      await end(of: request, content: content, to: destination)
    }
    let elapsed = cache.configuration.clock.uptime - start
    return TransferReport(url: url, elapsed: elapsed, ending: ending, explanation: explanation)
  }

  private func end(
    of request: HTTPRequest, content: RequestContent?, to destination: Output.Destination,
    isAgain: Bool = false
  ) async -> TransferReport.Ending {
    do {
      let response = try await cache.respond(
        to: request, body: try content?.makeBody(), policy: isAgain ? .reload : policy,
        options: options, via: upstream)
      return .answered(try await take(response, of: request, to: destination))
    } catch let error as UpstreamError {
      return .failed(ExitStatus(error.kind), error.kind == .cancelled ? "interrupted" : error.message)
    } catch let error as CacheError
      where error.code == .damaged && !isAgain && policy != .cacheOnly
      && destination != .standardOutput
    {
      // What is stored turned out damaged under way, and nothing of it was handed out yet.
      return await end(of: request, content: content, to: destination, isAgain: true)
    } catch let error as CacheError {
      return .failed(ExitStatus(error.code), "\(error)")
    } catch let error as Output.Failure {
      return .failed(.output, "\(error)")
    } catch is CancellationError {
      return .failed(.interrupted, "interrupted")
    } catch {
      return .failed(.failure, "\(error)")
    }
  }

  private func take(
    _ response: CacheResponse, of request: HTTPRequest, to destination: Output.Destination
  ) async throws -> TransferReport.Answer {
    let (response, destination) = try handling.prepared(response, of: request, for: destination)
    let status = response.head.status.code
    var answer = TransferReport.Answer(
      status: status, head: response.head, outcome: response.outcome, storage: nil, bytes: 0,
      finalTarget: response.finalTarget, redirects: response.redirects.count)
    if case .unsatisfiable = response.outcome {
      response.body.source.cancel()
      return answer
    }
    let isLeftOut = failsOnError && status >= 400
    let output = try Output(isLeftOut ? .nowhere : destination)
    do {
      if includesHead { try await output.write(BodyBytes(Array(response.head.text.utf8))) }
      meter.begin(length: response.body.length)
      for try await bytes in response.body {
        try await output.write(bytes)
        answer.bytes += Int64(bytes.count)
        meter.add(bytes.count)
      }
      try output.finish()
    } catch {
      response.body.source.cancel()
      output.discard()
      throw error
    }
    answer.storage = recorder.result(for: response.finalTarget)
    if explains { answer.explanation = explanation(of: answer, response.head, to: request) }
    if case .file(let path) = destination, !isLeftOut { answer.file = path }
    return answer
  }

  /// Why the response is stored or not; nil where none came from the origin.
  private func explanation(
    of answer: TransferReport.Answer, _ head: HTTPResponse, to request: HTTPRequest
  ) -> CacheExplanation? {
    guard case .forwarded = answer.outcome else { return nil }
    var explanation = CacheExplanation.storage(
      request: request, response: head, rules: cache.configuration.rules,
      now: cache.configuration.clock.now)
    let outcome = OutcomeText(outcome: answer.outcome, storage: answer.storage)
    guard let refusal = outcome.refusal else { return explanation }
    explanation.conclude(refusedFor: CacheExplanation.refusal(refusal))
    return explanation
  }

  /// Ends `body` when the time is up; what it then reports as a failure is told as a timeout.
  private func withTimeLimit(
    _ limit: Duration?, _ body: @escaping @Sendable () async -> TransferReport.Ending
  ) async -> TransferReport.Ending {
    guard let limit else { return await body() }
    let clock = cache.configuration.clock
    return await withTaskGroup(of: TransferReport.Ending?.self) { group in
      group.addTask { await body() }
      group.addTask {
        do { try await clock.sleep(for: limit) } catch {}
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
        if case .failed = ending, isLate {
          return .failed(.timeout, "not done within \(HumanText.duration(limit))")
        }
        return ending
      }
      return .failed(.interrupted, "interrupted")
    }
  }
}

extension HTTPResponse {
  /// Status and fields as text; the version of HTTP is the origin's affair and left out.
  var text: String {
    var text = "HTTP \(status.code)"
    if !status.reasonPhrase.isEmpty { text += " \(status.reasonPhrase)" }
    text += "\n"
    for field in headerFields { text += "\(field.name.rawName): \(field.value)\n" }
    return text + "\n"
  }
}
