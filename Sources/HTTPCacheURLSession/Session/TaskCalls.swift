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
    let task = try task()
    let session = try foundation.current().session
    let answer = try await DelegateAnswer<URLRequest?>.wait { answer in
      session.delegateQueue.addOperation {
        DelegateCalls.redirect(delegate, session: session, task: task, response: redirect, request: request) {
          answer.give($0)
        }
      }
    }
    try check(task)
    return answer
  }

  /// Asks whether to accept the final response.
  func accept(_ response: URLResponse) async throws -> Bool {
    guard let delegate = delegates.first as? any URLSessionDataDelegate else { return true }
    let task = try task()
    let session = try foundation.current().session
    let disposition = try await DelegateAnswer<URLSession.ResponseDisposition>.wait { answer in
      session.delegateQueue.addOperation {
        DelegateCalls.response(delegate, session: session, task: task, response: response) { answer.give($0) }
      }
    }
    try check(task)
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
  func answer(_ challenge: BasicChallenge) async throws(UpstreamError) -> AuthenticationAttempt {
    let attempt: AuthenticationAttempt
    do {
      attempt = try await attemptToAnswer(challenge)
    } catch {
      throw UpstreamError(.cancelled, "cancelled", cause: URLError(.cancelled))
    }
    if case .cancel = attempt {
      throw UpstreamError(.cancelled, "cancelled by the delegate", cause: URLError(.cancelled))
    }
    return attempt
  }

  private func attemptToAnswer(_ challenge: BasicChallenge) async throws -> AuthenticationAttempt {
    guard hasDelegates else {
      return AuthenticationAttempt(
        basic: .performDefaultHandling, nil, proposed: challenge.challenge.proposedCredential)
    }
    let task = try task()
    let session = try foundation.current().session
    typealias Answer = (URLSession.AuthChallengeDisposition, URLCredential?)
    let (disposition, credential) = try await DelegateAnswer<Answer>.wait { answer in
      session.delegateQueue.addOperation { [delegates] in
        DelegateCalls.answer(
          challenge.challenge, session: session, task: task, asking: delegates[...]
        ) {
          answer.give(($0, $1))
        }
      }
    }
    return AuthenticationAttempt(
      basic: disposition, credential, proposed: challenge.challenge.proposedCredential)
  }

  private func task() throws(UpstreamError) -> URLSessionDataTask {
    if let task = standIn.withLock({ $0 }) { return task }
    let task = try foundation.current().makeStandIn(request)
    standIn.withLock { $0 = task }
    return task
  }

  /// Throws if the delegate cancelled the task that it was given.
  private func check(_ task: URLSessionDataTask) throws {
    if task.state == .canceling || task.state == .completed { throw URLError(.cancelled) }
    try Task.checkCancellation()
  }
}
