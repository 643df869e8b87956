package import HTTPCacheStore
package import HTTPTypes
import Synchronization

/// A body that ends with an error if its next bytes are late.
package final class TimedBody: BodySource {
  private struct State {
    /// Since when a reader waits for bytes; nil while none does.
    var waitingSince: Duration?
    var failure: UpstreamError?
    var watch: Task<Void, Never>?
    var isOver = false
  }

  private let base: any BodySource
  private let clock: any CacheClock
  private let idle: Duration
  private let deadline: Duration?
  private let late: UpstreamError
  private let onEnd: @Sendable () -> Void
  private let state = Mutex(State())

  /// - Parameters:
  ///   - idle: the longest time that a reader may wait for bytes.
  ///   - deadline: the clock's uptime at which the body must have ended.
  ///   - late: the error of a body whose bytes are late.
  ///   - onEnd: called once, when nothing is left to cancel.
  package init(
    _ body: MessageBody, idle: Duration, deadline: Duration? = nil, late: UpstreamError,
    clock: any CacheClock, onEnd: @escaping @Sendable () -> Void = {}
  ) {
    base = body.source
    (self.idle, self.deadline, self.late) = (idle, deadline, late)
    (self.clock, self.onEnd) = (clock, onEnd)
  }

  deinit {
    if end() { base.cancel() }
  }

  package var length: Int64? { base.length }
  package var trailers: HTTPFields { base.trailers }
  package var stored: StoredBodyRange? { base.stored }

  package func next() async throws -> BodyBytes? {
    begin()
    let result: Result<BodyBytes?, any Error>
    do { result = .success(try await base.next()) } catch { result = .failure(error) }
    let failure = state.withLock { state in
      state.waitingSince = nil
      return state.failure
    }
    if let failure { throw failure }
    switch result {
    case .success(let bytes?): return bytes
    case .success(nil): _ = end()
    case .failure: _ = end()
    }
    return try result.get()
  }

  package func cancel() {
    _ = end()
    base.cancel()
  }

  /// Ends the body with an error.
  package func fail(_ error: UpstreamError) {
    state.withLock { $0.failure = $0.failure ?? error }
    cancel()
  }

  private func begin() {
    let now = clock.uptime
    state.withLock { state in
      state.waitingSince = now
      guard state.watch == nil, !state.isOver else { return }
      state.watch = clock.watch { [weak self] in
        self?.timeLeft()
      } late: { [weak self, late] in
        self?.fail(late)
      }
    }
  }

  /// The time until the next bytes are late; nil after the end.
  private func timeLeft() -> Duration? {
    let now = clock.uptime
    return state.withLock { state in
      if state.isOver { return nil }
      // While no reader waits for bytes, none can be late.
      let left = state.waitingSince.map { idle - (now - $0) } ?? idle
      return deadline.map { min(left, $0 - now) } ?? left
    }
  }

  /// - Returns: whether the body had not ended yet.
  private func end() -> Bool {
    let (wasOver, watch) = state.withLock { state in
      defer { state.isOver = true }
      return (state.isOver, state.watch.take())
    }
    if wasOver { return false }
    watch?.cancel()
    onEnd()
    return true
  }
}

extension CacheClock {
  /// A task that calls `late` once `timeLeft` gives no more time, and ends once it gives nil.
  package func watch(
    timeLeft: @escaping @Sendable () -> Duration?, late: @escaping @Sendable () -> Void
  ) -> Task<Void, Never> {
    Task {
      while let left = timeLeft() {
        guard left > .zero else { return late() }
        // On Linux a sleep that is cancelled keeps its memory until it would have ended: sleep for a few seconds at once.
        do { try await sleep(for: min(left, .seconds(5))) } catch { return }
      }
    }
  }
}
