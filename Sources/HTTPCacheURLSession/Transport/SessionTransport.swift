import HTTPCaching
import HTTPTypes

/// An upstream of the caller's, with what a session of Foundation does besides HTTP: it stores cookies, answers
/// challenges for HTTP Basic, tells the delegates how much of a body was sent, ends requests that make no
/// progress, and can be invalidated.
final class SessionTransport: Upstream {
  private let base: any Upstream
  private let configuration: URLSessionConfiguration
  private let cookies: SessionCookies?
  /// Foundation's session, for delegate calls.
  private let foundation: URLSessionUpstream
  private let running = RunningRequests()

  /// - Parameter configuration: without credentials for a shared cache: one user's must not serve another.
  init(_ base: any Upstream, configuration: URLSessionConfiguration, foundation: URLSessionUpstream) {
    self.base = base
    self.configuration = configuration
    cookies = SessionCookies(configuration)
    self.foundation = foundation
  }

  var defaultTimeout: Duration? { base.defaultTimeout }

  /// Sends no more requests, and cancels the running ones.
  func invalidateAndCancel() { running.cancelAll() }

  /// Sends no more requests.
  func finishAndInvalidate() { running.close() }

  func send(_ request: UpstreamRequest) async throws(UpstreamError) -> UpstreamResponse {
    let context = request.context as? RequestContext
    let idle = configuration.timeoutIntervalForRequest
    let limits = TransferLimits(
      idle: context?.prototype.timeout(orDefault: idle) ?? idle,
      whole: configuration.timeoutIntervalForResource)
    var request = request
    request.timeout = min(request.timeout ?? limits.idle, limits.idle, limits.whole)
    let calls = context.map { TaskCalls(for: $0.prototype, delegates: $0.delegates, foundation: foundation) }
    let first = request.head
    var failures = 0
    while true {
      if let body = request.body, let calls, calls.hasDelegates {
        let counted = ObservedBody(body) { count, total in calls.sent(count, total: total, of: body.length) }
        request.body = MessageBody(counted)
      }
      let response = try await answer(to: request, within: limits)
      if context?.prototype.httpShouldHandleCookies ?? true {
        cookies?.store(response.head.headerFields, from: (try? URLRequest(request.head))?.url)
      }
      guard response.head.status == .unauthorized, let calls,
        request.body == nil || context?.content.isRepeatable == true,
        let challenge = BasicChallenge.make(
          response.head, to: first, failures: failures, credentials: configuration.urlCredentialStorage),
        case .retry(let authorization) = try await calls.answer(challenge)
      else {
        var response = response
        // The answer to credentials that a shared cache has not seen (RFC 9111 §3.5).
        if failures > 0, context?.isShared == true { response.storageRefusal = .authorized }
        return response
      }
      response.body.source.cancel()
      failures += 1
      request.head = first
      request.head.headerFields[.authorization] = authorization
      if request.body != nil { request.body = try Self.content(again: context) }
    }
  }

  /// The content of the caller's request once more.
  private static func content(again context: RequestContext?) throws(UpstreamError) -> MessageBody? {
    do { return try context?.content.make() } catch {
      throw UpstreamError(.protocol, "the request's content could not be read", cause: error)
    }
  }

  /// Sends one request, which `invalidateAndCancel` may cancel.
  private func answer(
    to request: UpstreamRequest, within limits: TransferLimits
  ) async throws(UpstreamError) -> UpstreamResponse {
    let task = Task { [base] () async -> Result<UpstreamResponse, UpstreamError> in
      do throws(UpstreamError) { return .success(try await base.send(request)) } catch {
        return .failure(error)
      }
    }
    guard let number = running.add({ task.cancel() }) else {
      task.cancel()
      throw OriginSession.invalidated
    }
    let result = await withTaskCancellationHandler {
      await task.value
    } onCancel: {
      task.cancel()
    }
    switch result {
    case .failure(let error):
      running.remove(number)
      throw error
    case .success(var response):
      let body = TimedBody(
        response.body, idle: limits.idle, deadline: limits.deadline, late: TransferLimits.late,
        clock: SystemClock()
      ) { [running] in running.remove(number) }
      // The body replaces the task as what is cancelled; both may have been cancelled meanwhile.
      guard running.replace(number, { [weak body] in body?.fail(OriginSession.invalidated) }) else {
        body.cancel()
        throw OriginSession.invalidated
      }
      response.body = MessageBody(body)
      return response
    }
  }
}
