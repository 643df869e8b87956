import Synchronization

/// Runs the sweeps of a store one after the other. A sweep holds the locks of dead owners; to a second sweep
/// at the same time, these owners would look alive.
final class Sweeps: Sendable {
  typealias Action = @Sendable () -> Void

  private struct State {
    var isRunning = false
    var waiting: [Action] = []
    var whenIdle: [Action] = []
  }

  private let state = Mutex(State())

  /// Starts a sweep, or queues it. The sweep must call `didEnd` at its end.
  func start(_ sweep: @escaping Action) {
    let isFirst = state.withLock { state in
      if state.isRunning { state.waiting.append(sweep) }
      defer { state.isRunning = true }
      return !state.isRunning
    }
    if isFirst { sweep() }
  }

  /// Starts the next sweep after one has ended.
  func didEnd() {
    let actions = state.withLock { state -> [Action] in
      if !state.waiting.isEmpty { return [state.waiting.removeFirst()] }
      state.isRunning = false
      defer { state.whenIdle = [] }
      return state.whenIdle
    }
    for action in actions { action() }
  }

  /// Calls an action when no sweep runs or waits; at once if that is already the case.
  func whenIdle(_ action: @escaping Action) {
    let isIdle = state.withLock { state in
      if state.isRunning { state.whenIdle.append(action) }
      return !state.isRunning
    }
    if isIdle { action() }
  }
}
