import HTTPCacheStore
import Synchronization

/// Tasks that nobody waits for, bounded in number.
final class BackgroundWork: Sendable {
  private struct State {
    var next = 0
    var tasks: [Int: Task<Void, Never>] = [:]
  }

  private let limit: Int
  private let executor: (any TaskExecutor)?
  private let state = Mutex(State())

  init(limit: Int, executor: (any TaskExecutor)? = nil) {
    self.limit = limit
    self.executor = executor
  }

  /// The number of tasks that have not ended.
  var count: Int { state.withLock { $0.tasks.count } }

  /// Begins some work, unless there is too much already.
  func begin(_ work: @escaping @Sendable () async -> Void) {
    state.withLock { state in
      guard state.tasks.count < limit else { return }
      let number = state.next
      state.next += 1
      state.tasks[number] = Task(executorPreference: executor, priority: .utility) {
        await work()
        self.state.withLock { _ = $0.tasks.removeValue(forKey: number) }
      }
    }
  }

  /// Waits until all of it is done, and cancels what is not in time.
  func finish(within limit: Duration, clock: any CacheClock) async {
    let tasks = state.withLock { Array($0.tasks.values) }
    guard !tasks.isEmpty else { return }
    let timeout = Task(executorPreference: executor) {
      do { try await clock.sleep(for: limit) } catch { return }
      for task in tasks { task.cancel() }
    }
    for task in tasks { await task.value }
    timeout.cancel()
  }
}
