import HTTPCaching
import Synchronization

/// Foundation's delegate: passes each event to the request that it belongs to.
final class TaskRouter: NSObject, URLSessionDataDelegate, Sendable {
  private let table = Mutex<[Int: FoundationRequest]>([:])
  private let delegate: (any URLSessionDelegate)?

  init(delegate: (any URLSessionDelegate)?) { self.delegate = delegate }

  func add(_ request: FoundationRequest, for task: Int) { table.withLock { $0[task] = request } }

  var requests: [FoundationRequest] { table.withLock { Array($0.values) } }

  private func request(_ task: URLSessionTask) -> FoundationRequest? {
    table.withLock { $0[task.taskIdentifier] }
  }

  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
  ) {
    request(dataTask)?.received(response, from: dataTask.taskIdentifier)
    completionHandler(.allow)
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    request(dataTask)?.received(data, from: dataTask.taskIdentifier)
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64,
    totalBytesSent: Int64, totalBytesExpectedToSend: Int64
  ) {
    request(task)?.sent(
      bytesSent, total: totalBytesSent, of: totalBytesExpectedToSend, session: session, task: task)
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask,
    willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
    completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) {
    guard self.request(task)?.mayAnswerRedirect(from: task.taskIdentifier) == true else { return }
    completionHandler(nil)
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
    completionHandler:
      @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  ) {
    guard let request = request(task) else {
      return completionHandler(.cancelAuthenticationChallenge, nil)
    }
    request.received(challenge, session: session, task: task, completion: completionHandler)
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
  ) {
    let request = table.withLock { $0.removeValue(forKey: task.taskIdentifier) }
    request?.completed(task, error)
  }

  func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
    if let delegate { DelegateCalls.invalid(delegate, session: session, error: error) }
  }
}
