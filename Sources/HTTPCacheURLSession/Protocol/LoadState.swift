import Synchronization

/// Whether a load is running, suspended, or ended.
final class LoadState: Sendable {
  private enum Phase { case new, running, suspended, ended }

  private struct State {
    var phase = Phase.new
    var task: Task<Void, Never>?
    var waiting: CheckedContinuation<Bool, Never>?
  }

  private let state = Mutex(State())

  var isRunning: Bool { state.withLock { $0.phase == .running } }

  var isSuspended: Bool { state.withLock { $0.phase == .suspended } }

  /// Starts, or continues after being suspended.
  ///
  /// - Returns: whether this is the first time.
  func resume() -> Bool {
    let (isFirst, waiting) = state.withLock { state -> (Bool, CheckedContinuation<Bool, Never>?) in
      guard state.phase == .new || state.phase == .suspended else { return (false, nil) }
      let isFirst = state.phase == .new
      state.phase = .running
      return (isFirst, state.waiting.take())
    }
    waiting?.resume(returning: true)
    return isFirst
  }

  func suspend() {
    state.withLock { if $0.phase == .running { $0.phase = .suspended } }
  }

  /// Sets the task that does the work, which is cancelled at the end.
  func began(_ task: Task<Void, Never>) {
    let isEnded = state.withLock { state in
      if state.phase != .ended { state.task = task }
      return state.phase == .ended
    }
    if isEnded { task.cancel() }
  }

  /// Ends the load.
  ///
  /// - Returns: whether it had not ended yet.
  func end() -> Bool {
    let (wasEnded, task, waiting) = state.withLock { state in
      defer { state.phase = .ended }
      return (state.phase == .ended, state.task.take(), state.waiting.take())
    }
    task?.cancel()
    waiting?.resume(returning: false)
    return !wasEnded
  }

  /// Waits while it is suspended.
  ///
  /// - Throws: `CancellationError` once it has ended.
  func untilRunning() async throws {
    let isRunning = await withCheckedContinuation { continuation in
      let phase = state.withLock { state in
        if state.phase == .suspended { state.waiting = continuation }
        return state.phase
      }
      if phase != .suspended { continuation.resume(returning: phase == .running) }
    }
    guard isRunning else { throw CancellationError() }
  }
}
