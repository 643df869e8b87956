/// Asks the delegate of a task about challenges and redirects, with the task and its session. All other calls
/// go through the protocol's client.
final class TaskDelegate: NSObject, URLSessionTaskDelegate, @unchecked Sendable {
  // @unchecked Sendable because nothing changes its properties after `init`, and a session, a task and their delegate may be
  // used from any thread.
  private let delegate: any URLSessionTaskDelegate
  private let session: URLSession
  // Weak, because the task owns the load.
  private weak var task: URLSessionTask?

  /// Nil if no delegate implements these methods, or the task does not reveal its delegate.
  init?(of task: URLSessionTask?, in session: URLSession?) {
    guard let task, let session,
      let delegate = task.delegate ?? session.delegate as? any URLSessionTaskDelegate
    else { return nil }
    self.delegate = delegate
    self.session = session
    self.task = task
  }

  func urlSession(
    _: URLSession, task _: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) {
    guard let task else { return completionHandler(nil) }
    session.delegateQueue.addOperation { [delegate, session] in
      DelegateCalls.redirect(
        delegate, session: session, task: task, response: response, request: request,
        completion: completionHandler)
    }
  }

  func urlSession(
    _: URLSession, task _: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
    completionHandler:
      @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  ) {
    guard let task else { return completionHandler(.cancelAuthenticationChallenge, nil) }
    session.delegateQueue.addOperation { [delegate, session] in
      DelegateCalls.answer(
        challenge, session: session, task: task, asking: [delegate][...], completion: completionHandler)
    }
  }
}
