public import HTTPCacheSemantics
public import HTTPCacheStore

/// A clock that stands still until a test moves it.
public final class ManualClock: CacheClock {
  private struct Sleeper {
    let wake: Duration
    let continuation: CheckedContinuation<Void, any Error>
  }

  private struct State {
    var now: Timestamp
    var uptime: Duration = .zero
    var sleepers: [Int: Sleeper] = [:]
    var nextID = 0
  }

  private let state: WatchedState<State>

  /// Makes a clock that shows `now`.
  public init(now: Timestamp) { state = WatchedState(State(now: now)) }

  /// The wall time of the clock.
  public var now: Timestamp { state.withLock { $0.now } }

  /// The time that the clock was advanced by.
  public var uptime: Duration { state.withLock { $0.uptime } }

  /// The number of sleeping tasks.
  public var sleeperCount: Int { state.withLock { $0.sleepers.count } }

  /// Moves wall time and uptime forward, and wakes the tasks whose time has come.
  ///
  /// - Parameter duration: the step; wall time moves by whole seconds.
  public func advance(by duration: Duration) {
    let woken = state.withLock { state in
      state.now = state.now.adding(duration)
      state.uptime += duration
      let due = state.sleepers.filter { $0.value.wake <= state.uptime }
      for id in due.keys { state.sleepers[id] = nil }
      return due.values.map(\.continuation)
    }
    for continuation in woken { continuation.resume() }
  }

  /// Moves the clock forward by seconds.
  package func advance(by seconds: Int64) { advance(by: .seconds(seconds)) }

  /// Sets only the wall time, as when a system's clock jumps.
  public func jump(to now: Timestamp) { state.withLock { $0.now = now } }

  /// Waits until `count` tasks sleep at the same time, so that moving the clock wakes them. Returns early if
  /// the task is cancelled.
  public func waitForSleepers(_ count: Int = 1) async {
    await state.wait { $0.sleepers.count >= count }
  }

  /// Suspends until the clock was moved by `duration`.
  ///
  /// - Throws: `CancellationError` when the task is cancelled.
  public func sleep(for duration: Duration) async throws {
    let id = state.withLock { state in
      state.nextID += 1
      return state.nextID
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let immediate: Result<Void, any Error>? = state.withLock { state in
          if Task.isCancelled { return .failure(CancellationError()) }
          if duration <= .zero { return .success(()) }
          state.sleepers[id] = Sleeper(wake: state.uptime + duration, continuation: continuation)
          return nil
        }
        if let immediate { continuation.resume(with: immediate) }
      }
    } onCancel: {
      let sleeper = state.withLock { $0.sleepers.removeValue(forKey: id) }
      sleeper?.continuation.resume(throwing: CancellationError())
    }
  }
}
