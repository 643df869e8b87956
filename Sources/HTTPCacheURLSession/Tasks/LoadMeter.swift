import HTTPCaching
import Synchronization

/// Collects the metrics of one request, and reports them once.
final class LoadMeter: Sendable {
  private struct State {
    var metrics = CachedTaskMetrics()
    var start: Duration = .zero
    var isFinished = false
  }

  private let clock: any CacheClock
  private let report: (@Sendable (CachedTaskMetrics) -> Void)?
  private let inner = Mutex(State())

  /// - Parameter report: called when the request has ended, at the latest when the meter is dropped.
  init(_ clock: any CacheClock, report: (@Sendable (CachedTaskMetrics) -> Void)?) {
    self.clock = clock
    self.report = report
  }

  deinit { finish() }

  var metrics: CachedTaskMetrics { inner.withLock { $0.metrics } }

  func start() {
    inner.withLock { state in
      state.start = clock.uptime
      state.metrics.startDate = Date(timeIntervalSince1970: TimeInterval(clock.now.seconds))
    }
  }

  /// Notes the head of a response. A second response replaces the first one, whose stored body was damaged.
  func note(_ loaded: LoadedResponse) {
    inner.withLock { state in
      state.metrics.timeToResponse = clock.uptime - state.start
      state.metrics.timeToFirstByte = nil
      state.metrics.cacheOutcome = loaded.cached?.outcome
      state.metrics.redirects = loaded.cached?.redirects ?? []
      state.metrics.countOfBytesReceived = 0
    }
  }

  /// Notes bytes of the body.
  ///
  /// - Returns: the bytes of the body so far.
  @discardableResult
  func received(_ count: Int64) -> Int64 {
    inner.withLock { state in
      if state.metrics.timeToFirstByte == nil { state.metrics.timeToFirstByte = clock.uptime - state.start }
      state.metrics.countOfBytesReceived += count
      return state.metrics.countOfBytesReceived
    }
  }

  func finish() {
    let finished = inner.withLock { state -> CachedTaskMetrics? in
      guard !state.isFinished else { return nil }
      state.isFinished = true
      state.metrics.duration = clock.uptime - state.start
      return state.metrics
    }
    if let finished { report?(finished) }
  }
}
