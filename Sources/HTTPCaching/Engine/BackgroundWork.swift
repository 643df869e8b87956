import HTTPCacheStore
import Synchronization

/// Tasks that no caller waits for. Their number is bounded.
final class BackgroundWork: Sendable {
  private struct Running {
    let task: Task<Void, Never>
    /// The origin that the task asks; nil if it asks none.
    let origin: String?
  }

  private struct State {
    var next = 0
    var tasks: [Int: Running] = [:]
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

  /// Begins a task, unless the maximum number of tasks is running.
  ///
  /// - Parameter origin: the origin that the task asks. Of one origin fewer tasks run than there are free places, so that
  ///   an origin that does not answer leaves places to others.
  func begin(asking origin: String? = nil, _ work: @escaping @Sendable () async -> Void) {
    state.withLock { state in
      let free = limit - state.tasks.count
      guard free > 0 else { return }
      if let origin, state.tasks.values.count(where: { $0.origin == origin }) >= free { return }
      let number = state.next
      state.next += 1
      let task = Task(executorPreference: executor, priority: .utility) {
        await work()
        self.state.withLock { $0.tasks[number] = nil }
      }
      state.tasks[number] = Running(task: task, origin: origin)
    }
  }

  /// Waits until the tasks that have begun are done. When `limit` has passed, or the caller is cancelled,
  /// cancels the remaining tasks and returns without waiting for tasks that ignore their cancellation.
  func finish(within limit: Duration, clock: any CacheClock) async {
    let tasks = state.withLock { $0.tasks.values.map(\.task) }
    if tasks.isEmpty { return }
    let done = OneShot<Void>()
    Task(executorPreference: executor) {
      for task in tasks { await task.value }
      done.give(())
    }
    await done.take(within: limit, clock, otherwise: ())
    for task in tasks { task.cancel() }
  }

  /// Cancels the tasks that have begun.
  func cancel() {
    for running in state.withLock({ Array($0.tasks.values) }) { running.task.cancel() }
  }
}
