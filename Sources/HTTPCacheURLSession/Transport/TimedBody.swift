import HTTPCaching
import HTTPTypes
import Synchronization

/// A body that ends with an error if its next bytes are late.
final class TimedBody: BodySource {
  private struct State {
    /// Since when a reader waits for bytes; nil while none does.
    var waitingSince: ContinuousClock.Instant?
    var failure: UpstreamError?
    var watch: Task<Void, Never>?
    var isOver = false
  }

  private let base: any BodySource
  private let limits: TransferLimits
  private let onEnd: @Sendable () -> Void
  private let state = Mutex(State())

  /// - Parameter onEnd: called once, when nothing is left to cancel.
  init(_ body: MessageBody, _ limits: TransferLimits, onEnd: @escaping @Sendable () -> Void) {
    base = body.source
    self.limits = limits
    self.onEnd = onEnd
  }

  deinit {
    if end() { base.cancel() }
  }

  var length: Int64? { base.length }
  var trailers: HTTPFields { base.trailers }
  var stored: StoredBodyRange? { base.stored }

  func next() async throws -> BodyBytes? {
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

  func cancel() {
    _ = end()
    base.cancel()
  }

  /// Ends the body because its session was invalidated.
  func invalidate() { fail(OriginSession.invalidated) }

  private func begin() {
    state.withLock { state in
      state.waitingSince = .now
      guard state.watch == nil, !state.isOver else { return }
      state.watch = Task { [weak self] in
        while let left = self?.timeLeft() {
          guard left > .zero else {
            self?.fail(
              UpstreamError(
                .timeout, "the origin sent nothing in time", cause: URLError(.timedOut)))
            return
          }
          do { try await Task.sleep(for: left) } catch { return }
        }
      }
    }
  }

  /// The time until the next bytes are late; nil after the end.
  private func timeLeft() -> Duration? {
    let now = ContinuousClock.now
    return state.withLock { state in
      if state.isOver { return nil }
      let whole = limits.deadline - now
      // While no reader waits for bytes, none can be late.
      return min(whole, state.waitingSince.map { limits.idle - (now - $0) } ?? limits.idle)
    }
  }

  private func fail(_ error: UpstreamError) {
    state.withLock { $0.failure = $0.failure ?? error }
    cancel()
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
