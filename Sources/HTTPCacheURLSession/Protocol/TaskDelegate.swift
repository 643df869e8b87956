import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Asks the delegate of a task of somebody else's session about challenges and redirects, with that
/// session and that task. Everything else it is told through the protocol's client.
final class TaskDelegate: NSObject, URLSessionTaskDelegate, @unchecked Sendable {
  // @unchecked Sendable because nothing in it changes, and a session, a task and a delegate of one may
  // be used from any thread.
  private let delegate: any URLSessionTaskDelegate
  private let session: URLSession
  // Weak, since the task owns the load.
  private weak let task: URLSessionTask?

  /// Nil where nobody wants to be asked, or the task does not tell whom.
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
      DelegateCalls.redirect(delegate, session, task, response, request, completionHandler)
    }
  }

  func urlSession(
    _: URLSession, task _: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
    completionHandler:
      @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  ) {
    guard let task else { return completionHandler(.cancelAuthenticationChallenge, nil) }
    session.delegateQueue.addOperation { [delegate, session] in
      DelegateCalls.answer(challenge, session, task, asking: [delegate][...], completionHandler)
    }
  }
}
