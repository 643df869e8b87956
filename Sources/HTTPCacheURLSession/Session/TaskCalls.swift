import HTTPCaching
import Synchronization

/// The delegate calls of one request for which Foundation has no task: a stored response may redirect, and
/// may be the final response. They are made on the session's delegate queue, with a task that represents the
/// request and is never started.
final class TaskCalls: Sendable {
  private let request: URLRequest
  private let delegates: [any URLSessionDelegate]
  private let foundation: URLSessionUpstream
  private let standIn = Mutex<URLSessionDataTask?>(nil)

  init(for request: URLRequest, delegates: [any URLSessionDelegate], foundation: URLSessionUpstream) {
    self.request = request
    self.delegates = delegates
    self.foundation = foundation
  }

  deinit { standIn.withLock { $0 }?.cancel() }

  /// Asks whether to follow a redirect.
  ///
  /// - Returns: the request to send; nil to stop there.
  func follow(
    _ request: URLRequest, after response: CacheResponse, _ url: URL
  ) async throws -> URLRequest? {
    guard let delegate = delegates.first as? any URLSessionTaskDelegate,
      let redirect = CachedHTTPURLResponse(response, url: url)
    else { return request }
    return try await ask(for: URLRequest?.self) { session, task, answer in
      DelegateCalls.redirect(
        delegate, session: session, task: task, response: redirect, request: request, completion: answer)
    }
  }

  /// Asks whether to accept the final response.
  func accept(_ response: URLResponse) async throws -> Bool {
    guard let delegate = delegates.first as? any URLSessionDataDelegate else { return true }
    let disposition = try await ask(for: URLSession.ResponseDisposition.self) { session, task, answer in
      DelegateCalls.response(delegate, session: session, task: task, response: response, completion: answer)
    }
    return disposition != .cancel
  }

  var hasDelegates: Bool { !delegates.isEmpty }

  /// Tells the delegates how much of the content was sent.
  ///
  /// - Parameter expected: the length in bytes; nil if unknown.
  func sent(_ count: Int64, total: Int64, of expected: Int64?) {
    guard let task = try? task(), let session = try? foundation.current().session else { return }
    session.delegateQueue.addOperation { [delegates] in
      for delegate in delegates {
        DelegateCalls.sent(
          delegate, session: session, task: task, sent: count, total: total, expected: expected ?? -1)
      }
    }
  }

  /// Asks the delegates for credentials.
  ///
  /// - Throws: `UpstreamError.cancelled` if a delegate or the caller cancels.
  func answer(
    _ challenge: URLAuthenticationChallenge
  ) async throws(UpstreamError) -> AuthenticationAttempt {
    typealias Answer = (URLSession.AuthChallengeDisposition, URLCredential?)
    var answer: Answer = (.performDefaultHandling, nil)
    do {
      if hasDelegates {
        answer = try await ask(for: Answer.self) { [delegates] session, task, answer in
          DelegateCalls.answer(challenge, session: session, task: task, asking: delegates[...]) {
            answer(($0, $1))
          }
        }
      }
    } catch {
      throw UpstreamError(.cancelled, "cancelled", cause: URLError(.cancelled))
    }
    let attempt = AuthenticationAttempt(basic: answer.0, answer.1, proposed: challenge.proposedCredential)
    if case .cancel = attempt {
      throw UpstreamError(.cancelled, "cancelled by the delegate", cause: URLError(.cancelled))
    }
    return attempt
  }

  /// Asks in the session's delegate queue, and waits for the answer.
  ///
  /// - Throws: if the delegate or the caller cancelled, or the session was invalidated.
  private func ask<Answer: Sendable>(
    for _: Answer.Type,
    _ question:
      @escaping @Sendable (URLSession, URLSessionDataTask, @escaping @Sendable (Answer) -> Void) -> Void
  ) async throws -> Answer {
    let task = try task()
    let session = try foundation.current().session
    let answer = try await DelegateAnswer<Answer>.wait(in: session.delegateQueue) { answer in
      question(session, task, answer)
    }
    // The delegate may have cancelled the task that it was given.
    if task.state == .canceling || task.state == .completed { throw URLError(.cancelled) }
    try Task.checkCancellation()
    return answer
  }

  private func task() throws(UpstreamError) -> URLSessionDataTask {
    if let task = standIn.withLock({ $0 }) { return task }
    let task = try foundation.current().makeStandIn(request)
    standIn.withLock { $0 = task }
    return task
  }
}
