import HTTPCaching
import Synchronization

/// A request of a `CachedURLSession` as an object, with the methods of `URLSessionTask`.
///
/// ```swift
/// let task = session.dataTask(with: request) { data, response, error in … }
/// task.resume()
/// ```
public final class CachedURLSessionTask: Sendable, Identifiable {
  private struct State {
    var isCompleted = false
    var response: URLResponse?
    var error: (any Error)?
  }

  /// The request that the task was made with.
  public let originalRequest: URLRequest
  /// The bytes of the body: pausing, resuming and cancelling the progress does so with the task.
  public let progress = Progress(totalUnitCount: -1)
  private let meter: LoadMeter
  private let inner = Mutex(State())
  private let load = LoadState()
  private let work: @Sendable (CachedURLSessionTask) async -> Void
  private let priority: TaskPriority?

  /// Makes a suspended task.
  ///
  /// - Parameters:
  ///   - load: loads the response; calls `loading` with it, and reads the body that `loading` returns.
  ///   - completion: called once, after `load` has returned or thrown.
  init<Content: Sendable>(
    _ request: URLRequest, priority: TaskPriority?, meter: LoadMeter,
    load: @escaping @Sendable (CachedURLSessionTask) async throws -> Content,
    completion: @escaping @Sendable (Content?, URLResponse?, (any Error)?) -> Void
  ) {
    originalRequest = request
    self.priority = priority
    self.meter = meter
    work = { await $0.run(load, completion) }
    progress.isPausable = true
    progress.cancellationHandler = { [weak self] in self?.cancel() }
    progress.pausingHandler = { [weak self] in self?.suspend() }
    progress.resumingHandler = { [weak self] in self?.resume() }
  }

  /// Whether the task is suspended, runs, is being cancelled or has ended.
  public var state: URLSessionTask.State {
    if inner.withLock({ $0.isCompleted }) { return .completed }
    return switch load.phase {
    case .new, .suspended: .suspended
    case .running: .running
    case .ended: .canceling
    }
  }

  /// The response, with its `cacheOutcome`; nil before it has arrived.
  public var response: URLResponse? { inner.withLock { $0.response } }

  /// Why the task failed; nil before its end, and without a failure.
  public var error: (any Error)? { inner.withLock { $0.error } }

  /// Times, bytes and outcome: complete when the completion handler is called.
  public var metrics: CachedTaskMetrics { meter.metrics }

  /// Starts the task, or lets it go on after `suspend()`.
  public func resume() { if load.resume() { start() } }

  /// Pauses the task: no more of the body is read until `resume()`. A request that is under way is sent, and a
  /// transfer that other requests wait for goes on.
  public func suspend() { load.suspend() }

  /// Ends the task. Its completion handler gets `URLError.cancelled`, if it was not called before.
  public func cancel() { if load.end() == .new { start() } }

  private func start() {
    meter.start()
    load.began(Task(priority: priority) { await self.work(self) })
  }

  private func run<Content: Sendable>(
    _ loadContent: @Sendable (CachedURLSessionTask) async throws -> Content,
    _ completion: @Sendable (Content?, URLResponse?, (any Error)?) -> Void
  ) async {
    var content: Content?
    var failure: (any Error)?
    do {
      if load.phase == .ended { throw CancellationError() }
      content = try await loadContent(self)
    } catch {
      failure = CachedURLSession.foundationError(error, originalRequest.url)
    }
    meter.finish()
    let response = inner.withLock { state in
      state.error = failure
      state.isCompleted = true
      return state.response
    }
    if failure == nil {
      progress.totalUnitCount = max(progress.completedUnitCount, 1)
      progress.completedUnitCount = progress.totalUnitCount
    }
    completion(content, failure == nil ? response : nil, failure)
  }

  /// Notes a response.
  ///
  /// - Returns: the response with a body that waits while the task is suspended.
  func loading(_ loaded: LoadedResponse) -> LoadedResponse {
    inner.withLock { $0.response = loaded.response }
    meter.note(loaded)
    progress.totalUnitCount = loaded.body.length ?? -1
    progress.completedUnitCount = 0
    let body = ObservedBody(loaded.body, willRead: { try await self.load.untilRunning() }) { count, _ in
      self.progress.completedUnitCount = self.meter.received(count)
    }
    return LoadedResponse(response: loaded.response, body: MessageBody(body), cached: loaded.cached)
  }
}
