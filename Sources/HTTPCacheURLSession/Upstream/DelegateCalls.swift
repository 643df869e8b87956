/// Calls of Foundation's delegate methods, which are optional on Apple's systems and have default
/// implementations elsewhere.
enum DelegateCalls {
  typealias ChallengeAnswer =
    @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void

  /// Asks each delegate in turn until one wants more than the default.
  static func answer(
    _ challenge: URLAuthenticationChallenge, session: URLSession, task: URLSessionTask,
    asking delegates: ArraySlice<any URLSessionDelegate>, completion answer: @escaping ChallengeAnswer
  ) {
    guard let delegate = delegates.first else { return answer(.performDefaultHandling, nil) }
    ask(delegate, about: challenge, session: session, task: task) { disposition, credential in
      guard disposition == .performDefaultHandling else { return answer(disposition, credential) }
      Self.answer(
        challenge, session: session, task: task, asking: delegates.dropFirst(), completion: answer)
    }
  }

  private static func ask(
    _ delegate: any URLSessionDelegate, about challenge: URLAuthenticationChallenge,
    session: URLSession, task: URLSessionTask, completion answer: @escaping ChallengeAnswer
  ) {
    #if canImport(FoundationNetworking)
      guard let taskDelegate = delegate as? any URLSessionTaskDelegate else {
        return delegate.urlSession(session, didReceive: challenge, completionHandler: answer)
      }
      taskDelegate.urlSession(session, task: task, didReceive: challenge) { disposition, credential in
        guard disposition == .performDefaultHandling else { return answer(disposition, credential) }
        delegate.urlSession(session, didReceive: challenge, completionHandler: answer)
      }
    #else
      let ofSession: @Sendable () -> Void = {
        guard
          delegate.urlSession?(session, didReceive: challenge, completionHandler: answer) == nil
        else { return }
        answer(.performDefaultHandling, nil)
      }
      let isAsked: Void? = (delegate as? any URLSessionTaskDelegate)?.urlSession?(
        session, task: task, didReceive: challenge
      ) { disposition, credential in
        if disposition == .performDefaultHandling { ofSession() } else { answer(disposition, credential) }
      }
      if isAsked == nil { ofSession() }
    #endif
  }

  static func redirect(
    _ delegate: any URLSessionTaskDelegate, session: URLSession, task: URLSessionTask,
    response: HTTPURLResponse, request: URLRequest,
    completion answer: @escaping @Sendable (URLRequest?) -> Void
  ) {
    #if canImport(FoundationNetworking)
      delegate.urlSession(
        session, task: task, willPerformHTTPRedirection: response, newRequest: request,
        completionHandler: answer)
    #else
      let isAsked: Void? = delegate.urlSession?(
        session, task: task, willPerformHTTPRedirection: response, newRequest: request,
        completionHandler: answer)
      if isAsked == nil { answer(request) }
    #endif
  }

  static func response(
    _ delegate: any URLSessionDataDelegate, session: URLSession, task: URLSessionDataTask,
    response: URLResponse, completion answer: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
  ) {
    #if canImport(FoundationNetworking)
      delegate.urlSession(
        session, dataTask: task, didReceive: response, completionHandler: answer)
    #else
      let isAsked: Void? = delegate.urlSession?(
        session, dataTask: task, didReceive: response, completionHandler: answer)
      if isAsked == nil { answer(.allow) }
    #endif
  }

  static func sent(
    _ delegate: any URLSessionDelegate, session: URLSession, task: URLSessionTask,
    sent: Int64, total: Int64, expected: Int64
  ) {
    #if canImport(FoundationNetworking)
      (delegate as? any URLSessionTaskDelegate)?.urlSession(
        session, task: task, didSendBodyData: sent, totalBytesSent: total,
        totalBytesExpectedToSend: expected)
    #else
      (delegate as? any URLSessionTaskDelegate)?.urlSession?(
        session, task: task, didSendBodyData: sent, totalBytesSent: total,
        totalBytesExpectedToSend: expected)
    #endif
  }

  static func invalid(
    _ delegate: any URLSessionDelegate, session: URLSession, error: (any Error)?
  ) {
    #if canImport(FoundationNetworking)
      delegate.urlSession(session, didBecomeInvalidWithError: error)
    #else
      delegate.urlSession?(session, didBecomeInvalidWithError: error)
    #endif
  }
}
