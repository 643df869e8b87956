import HTTPCaching
import Synchronization

/// A Foundation session that only loads: no cache, no cookies, no redirects. It ends with its last user.
final class OriginSession: Sendable {
  /// Foundation's session, for delegate calls too.
  let session: URLSession
  private let router: TaskRouter
  private let isInvalidated = Mutex(false)

  /// - Parameter delegate: called when the session has become invalid.
  init(_ configuration: URLSessionConfiguration, delegate: (any URLSessionDelegate)?) {
    router = TaskRouter(delegate: delegate)
    #if canImport(FoundationNetworking)
      let queue: OperationQueue? = EventQueue()
    #else
      let queue: OperationQueue? = nil
    #endif
    session = URLSession(configuration: configuration, delegate: router, delegateQueue: queue)
  }

  deinit { finish() }

  /// Starts a task whose events go to `owner`.
  ///
  /// - Throws: `UpstreamError.cancelled` after the session was invalidated.
  func start(
    _ request: URLRequest, _ content: UploadContent?, priority: Float, for owner: FoundationRequest
  ) throws(UpstreamError) -> URLSessionTask {
    let task = try isInvalidated.withLock { isInvalidated throws(UpstreamError) -> URLSessionTask in
      // Within the lock: making a task in an invalid session crashes.
      guard !isInvalidated else { throw Self.invalidated }
      return make(request, content)
    }
    task.priority = priority
    router.add(owner, for: task.taskIdentifier)
    return task
  }

  /// A task that is never started, for delegate calls.
  ///
  /// - Throws: `UpstreamError.cancelled` after the session was invalidated.
  func makeStandIn(_ request: URLRequest) throws(UpstreamError) -> URLSessionDataTask {
    try isInvalidated.withLock { isInvalidated throws(UpstreamError) -> URLSessionDataTask in
      guard !isInvalidated else { throw Self.invalidated }
      return session.dataTask(with: request)
    }
  }

  /// Lets Foundation load URLs other than HTTP.
  func passOn(_ request: URLRequest) async throws -> (Data, URLResponse) {
    let box = Mutex<URLSessionTask?>(nil)
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let completion = { @Sendable (data: Data?, response: URLResponse?, error: (any Error)?) in
          guard let data, let response else {
            return continuation.resume(throwing: error ?? URLError(.unknown))
          }
          continuation.resume(returning: (data, response))
        }
        let task = isInvalidated.withLock { isInvalidated in
          isInvalidated ? nil : session.dataTask(with: request, completionHandler: completion)
        }
        guard let task else { return continuation.resume(throwing: Self.invalidated) }
        box.withLock { $0 = task }
        task.resume()
        if Task.isCancelled { task.cancel() }
      }
    } onCancel: {
      box.withLock { $0 }?.cancel()
    }
  }

  private func make(_ request: URLRequest, _ content: UploadContent?) -> URLSessionTask {
    switch content?.form {
    case nil: session.dataTask(with: request)
    case .data(let data): session.uploadTask(with: request, from: data)
    case .file(let url): session.uploadTask(with: request, fromFile: url)
    }
  }

  /// Cancels running tasks, and starts no more.
  func invalidateAndCancel() {
    finish()
    // One by one, because each request knows when its task must not be cancelled.
    for request in router.requests { request.fail(Self.invalidated) }
  }

  private func finish() {
    let wasInvalidated = isInvalidated.withLock { isInvalidated in
      defer { isInvalidated = true }
      return isInvalidated
    }
    if !wasInvalidated { session.finishTasksAndInvalidate() }
  }

  static var invalidated: UpstreamError {
    UpstreamError(.cancelled, "the session was invalidated", cause: URLError(.cancelled))
  }
}
