import HTTPCaching
import Synchronization

/// Whether a load is running, suspended, or ended.
final class LoadState: Sendable {
  enum Phase { case new, running, suspended, ended }

  private struct State {
    var phase = Phase.new
    var task: Task<Void, Never>?
    var waiting: OneShot<Bool>?
  }

  private let state = Mutex(State())

  var phase: Phase { state.withLock { $0.phase } }

  /// Starts, or continues after being suspended.
  ///
  /// - Returns: whether this is the first time.
  func resume() -> Bool {
    let (isFirst, waiting) = state.withLock { state -> (Bool, OneShot<Bool>?) in
      guard state.phase == .new || state.phase == .suspended else { return (false, nil) }
      let isFirst = state.phase == .new
      state.phase = .running
      return (isFirst, state.waiting.take())
    }
    waiting?.give(true)
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
  /// - Returns: the phase before.
  func end() -> Phase {
    let (phase, task, waiting) = state.withLock { state in
      defer { state.phase = .ended }
      return (state.phase, state.task.take(), state.waiting.take())
    }
    task?.cancel()
    waiting?.give(false)
    return phase
  }

  /// Waits while it is suspended.
  ///
  /// - Throws: `CancellationError` once it has ended.
  func untilRunning() async throws {
    let (phase, waiting) = state.withLock { state in
      if state.phase == .suspended { state.waiting = OneShot() }
      return (state.phase, state.waiting)
    }
    guard await waiting?.take() ?? (phase == .running) else { throw CancellationError() }
  }
}
