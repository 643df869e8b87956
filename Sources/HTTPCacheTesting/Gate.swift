/// Holds tasks until it is opened; then it stays open.
public final class Gate: Sendable {
  private struct State {
    var isOpen = false
    var arrivals = 0
    var waiting: [Int: CheckedContinuation<Void, any Error>] = [:]
  }

  private let state = WatchedState(State())

  /// Makes a closed gate.
  public init() {}

  /// Lets waiting and later tasks through.
  public func open() {
    let waiting = state.withLock { state in
      state.isOpen = true
      defer { state.waiting = [:] }
      return Array(state.waiting.values)
    }
    for continuation in waiting { continuation.resume() }
  }

  /// Waits until the gate is open.
  ///
  /// - Throws: `CancellationError` when the task is cancelled.
  public func pass() async throws {
    let id = arrive()
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let immediate: Result<Void, any Error>? = state.withLock { state in
          if state.isOpen { return .success(()) }
          if Task.isCancelled { return .failure(CancellationError()) }
          state.waiting[id] = continuation
          return nil
        }
        if let immediate { continuation.resume(with: immediate) }
      }
    } onCancel: {
      let continuation = state.withLock { $0.waiting.removeValue(forKey: id) }
      continuation?.resume(throwing: CancellationError())
    }
  }

  /// The number of tasks that have arrived, including those let through.
  public var arrivals: Int { state.withLock { $0.arrivals } }

  /// Waits until `count` tasks have arrived. Returns early if the task is cancelled.
  public func waitForArrivals(_ count: Int) async {
    await state.wait { $0.arrivals >= count }
  }

  private func arrive() -> Int {
    state.withLock { state in
      state.arrivals += 1
      return state.arrivals
    }
  }
}
