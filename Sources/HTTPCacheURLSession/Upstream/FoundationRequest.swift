import Dispatch
import HTTPCaching
import HTTPTypes
import Synchronization

/// One request to the origin and its answer, over one task of Foundation, or more after challenges.
final class FoundationRequest: Sendable {
  /// Settings that are fixed at the start.
  struct Terms: Sendable {
    var request: URLRequest
    var content: UploadContent?
    var priority = URLSessionTask.defaultPriority
    var limits: TransferLimits
    /// The longest time until the head has arrived.
    var headTimeout: Duration?
    /// Whether unread bytes may go to a temporary file.
    var mayUseFiles = true
    var delegates: [any URLSessionDelegate] = []
    var cookies: SessionCookies?
    var onInterim: (@Sendable (HTTPResponse) async -> Void)?
  }

  private struct State {
    var progress: ReceiveState
    var task: URLSessionTask?
    var waiter: OneShot<Void>?
    var watch: Task<Void, Never>?
    var lastEvent = SystemClock().uptime
    var failures = 0
    var isAuthorized = false
  }

  let terms: Terms
  private let session: OriginSession
  private let state: Mutex<State>
  private let began = SystemClock().uptime

  init(_ terms: Terms, in session: OriginSession) {
    self.terms = terms
    self.session = session
    state = Mutex(State(progress: ReceiveState(terms.request, mayUseFiles: terms.mayUseFiles)))
  }

  deinit { state.withLock { $0.watch }?.cancel() }

  var length: Int64? { state.withLock { $0.progress.length } }
  var isDecoded: Bool { state.withLock { $0.progress.isDecoded } }
  /// Whether a challenge was answered with credentials.
  var isAuthorized: Bool { state.withLock { $0.isAuthorized } }

  // MARK: The caller's side

  /// Sends the request and waits for the head of the final response.
  func head() async throws(UpstreamError) -> HTTPResponse {
    start(terms.request)
    // Foundation's own timeouts are not used: they count whole seconds, and a timeout during a redirect crashes.
    let watch = SystemClock().watch { [weak self] in
      self?.timeLeft()
    } late: { [weak self] in
      self?.fail(TransferLimits.late)
    }
    state.withLock { $0.watch = watch }
    while true {
      let (interim, head, error) = state.withLock { state in
        defer { state.progress.interim = [] }
        var error: UpstreamError?
        if case .failed(let failure) = state.progress.phase { error = failure }
        return (state.progress.interim, state.progress.finalHead, error)
      }
      for response in interim { await terms.onInterim?(response) }
      if let head { return head }
      if let error { throw error }
      await wait { $0.finalHead == nil && $0.interim.isEmpty && !$0.isOver }
    }
  }

  /// The next bytes of the body, not empty; nil at its end.
  func next() async throws -> BodyBytes? {
    while true {
      switch state.withLock({ $0.progress.read() }) {
      case .take(let bytes): return bytes
      case .end: return nil
      case .fail(let error):
        if error.kind == .cancelled, Task.isCancelled { throw CancellationError() }
        throw error
      case .wait: await wait { $0.mustWait }
      }
    }
  }

  func cancel() { fail(UpstreamError(.cancelled, "cancelled", cause: URLError(.cancelled))) }

  func fail(_ error: UpstreamError) { change { $0.progress.fail(error) } }

  private func wait(while isWaiting: @Sendable (ReceiveState) -> Bool) async {
    let waiter = state.withLock { state in
      if isWaiting(state.progress) {
        state.lastEvent = SystemClock().uptime
        state.waiter = OneShot()
      }
      return state.waiter
    }
    await withTaskCancellationHandler {
      await waiter?.take()
    } onCancel: {
      cancel()
    }
  }

  // MARK: Foundation's side

  private func start(_ request: URLRequest) {
    do throws(UpstreamError) {
      let task = try session.start(request, terms.content, priority: terms.priority, for: self)
      let isWanted = state.withLock { state in
        guard !state.progress.isOver else { return false }
        state.task = task
        state.progress.task = task.taskIdentifier
        state.lastEvent = SystemClock().uptime
        return true
      }
      if isWanted { task.resume() } else { task.cancel() }
    } catch {
      fail(error)
    }
  }

  /// Applies an event: wakes waiting callers, and cancels the task if the event says so.
  ///
  /// - Parameter task: the task of the event; nil if it belongs to no task.
  private func change(from task: Int? = nil, _ event: (inout State) -> Bool) {
    let (waiter, cancelled, watch) = state.withLock { state in
      if let task, task != state.progress.task {
        return (nil as OneShot<Void>?, nil as URLSessionTask?, nil as Task<Void, Never>?)
      }
      state.lastEvent = SystemClock().uptime
      var cancelled: URLSessionTask?
      if event(&state) {
        // Foundation crashes if a task is cancelled before its redirect has been answered.
        cancelled = state.progress.isAnsweringRedirect ? nil : state.task
        state.task = nil
        state.progress.task = nil
      }
      return (state.waiter.take(), cancelled, state.progress.isOver ? state.watch.take() : nil)
    }
    waiter?.give(())
    watch?.cancel()
    guard let cancelled else { return }
    // Cancelling waits for the receiving thread, which may be waiting for this one.
    DispatchQueue.global().async { cancelled.cancel() }
  }

  func received(_ response: URLResponse, from task: Int) {
    change(from: task) { $0.progress.received(response) }
    if let response = response as? HTTPURLResponse, response.value(forHTTPHeaderField: "Set-Cookie") != nil {
      terms.cookies?.store(HTTPFields(response.allHeaderFields), from: response.url)
    }
  }

  func received(_ data: Data, from task: Int) {
    change(from: task) { $0.progress.received(data) }
  }

  func sent(
    _ count: Int64, total: Int64, of expected: Int64, session: URLSession, task: URLSessionTask
  ) {
    change(from: task.taskIdentifier) { _ in false }
    for delegate in terms.delegates {
      DelegateCalls.sent(
        delegate, session: session, task: task, sent: count, total: total, expected: expected)
    }
  }

  func completed(_ task: URLSessionTask, _ error: (any Error)?) {
    change(from: task.taskIdentifier) { state in
      state.progress.completed(error, response: task.response)
      state.task = nil
      state.progress.task = nil
      return false
    }
  }

  /// Whether a redirect may be answered: not after the task was cancelled.
  func mayAnswerRedirect(from task: Int) -> Bool {
    state.withLock { state in
      guard state.progress.task == task, !state.progress.isOver else { return false }
      state.progress.isAnsweringRedirect = true
      return true
    }
  }

  // MARK: Challenges

  func received(
    _ challenge: URLAuthenticationChallenge, session: URLSession, task: URLSessionTask,
    completion answer: @escaping DelegateCalls.ChallengeAnswer
  ) {
    let failures = state.withLock { state in
      defer { state.failures += 1 }
      return state.failures
    }
    DelegateCalls.answer(
      AuthenticationAttempt.challenge(challenge, failures: failures), session: session, task: task,
      asking: terms.delegates[...]
    ) { [self] disposition, credential in
      switch AuthenticationAttempt(
        disposition, credential, challenge: challenge, failures: failures)
      {
      case .leaveToFoundation:
        if disposition == .useCredential { state.withLock { $0.isAuthorized = true } }
        answer(disposition, credential)
      case .retry(let authorization):
        release(task, answer)
        var authorized = terms.request
        authorized.setValue(authorization, forHTTPHeaderField: "Authorization")
        let request = authorized
        change { state in
          if !state.progress.isOver { state.progress.restart(request) }
          state.isAuthorized = true
          return false
        }
        start(request)
      case .accept:
        release(task, answer)
        change { state in
          state.progress.endUnauthorized()
          return false
        }
      case .cancel:
        release(task, answer)
        cancel()
      }
    }
  }

  /// Releases a task that waits for the answer to a challenge.
  private func release(_ task: URLSessionTask, _ answer: DelegateCalls.ChallengeAnswer) {
    state.withLock { state in
      guard state.progress.task == task.taskIdentifier else { return }
      state.task = nil
      state.progress.task = nil
    }
    answer(.cancelAuthenticationChallenge, nil)
  }

  // MARK: Time

  /// The time until the next byte or the head is late; nil once the request has ended.
  private func timeLeft() -> Duration? {
    let now = SystemClock().uptime
    return state.withLock { state in
      if state.progress.isOver { return nil }
      var left = terms.limits.deadline - now
      if state.progress.finalHead == nil, let limit = terms.headTimeout {
        left = min(left, limit - (now - began))
      }
      // While no caller waits for bytes, none can be late.
      let isWaiting = state.progress.finalHead == nil || state.waiter != nil
      let idle = terms.limits.idle
      return min(left, isWaiting ? idle - (now - state.lastEvent) : idle)
    }
  }
}
