import Synchronization

/// The sweeps of a store, one after the other: a sweep holds the locks of dead owners, which look to the next
/// one as if their owners lived.
final class Sweeps: Sendable {
  typealias Action = @Sendable () -> Void

  private struct State {
    var isRunning = false
    var waiting: [Action] = []
    var whenIdle: [Action] = []
  }

  private let state = Mutex(State())

  /// Starts a sweep, or lets it wait for its turn. `didEnd` has to be called when it has ended.
  func start(_ sweep: @escaping Action) {
    let isFirst = state.withLock { state in
      if state.isRunning { state.waiting.append(sweep) }
      defer { state.isRunning = true }
      return !state.isRunning
    }
    if isFirst { sweep() }
  }

  /// The sweep has ended: the next one starts.
  func didEnd() {
    let actions = state.withLock { state -> [Action] in
      if !state.waiting.isEmpty { return [state.waiting.removeFirst()] }
      state.isRunning = false
      defer { state.whenIdle = [] }
      return state.whenIdle
    }
    for action in actions { action() }
  }

  /// Calls an action once no sweep runs or waits; at once if that is so.
  func whenIdle(_ action: @escaping Action) {
    let isIdle = state.withLock { state in
      if state.isRunning { state.whenIdle.append(action) }
      return !state.isRunning
    }
    if isIdle { action() }
  }
}
