import HTTPCacheStore
import Synchronization

/// Tasks that no caller waits for. Their number is bounded.
final class BackgroundWork: Sendable {
  /// A caller of `finish`.
  private struct Finisher {
    var unfinished: Set<Int>
    let continuation: CheckedContinuation<Void, Never>
  }

  private struct State {
    var next = 0
    var tasks: [Int: Task<Void, Never>] = [:]
    var finishers: [Int: Finisher] = [:]
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
  func begin(_ work: @escaping @Sendable () async -> Void) {
    state.withLock { state in
      guard state.tasks.count < limit else { return }
      let number = state.next
      state.next += 1
      state.tasks[number] = Task(executorPreference: executor, priority: .utility) {
        await work()
        self.ended(number)
      }
    }
  }

  /// Waits until the tasks that have begun are done. When `limit` has passed, or the caller is cancelled,
  /// cancels the remaining tasks and returns without waiting for tasks that ignore their cancellation.
  func finish(within limit: Duration, clock: any CacheClock) async {
    let (number, unfinished) = state.withLock { state in
      state.next += 1
      return (state.next - 1, Set(state.tasks.keys))
    }
    guard !unfinished.isEmpty else { return }
    await withTaskCancellationHandler {
      await clock.limit(limit) {
        self.leave(number)
      } _: { mark in
        await wait(for: unfinished, as: number, until: mark)
      }
    } onCancel: {
      leave(number)
    }
    let late = state.withLock { state in unfinished.compactMap { state.tasks[$0] } }
    for task in late { task.cancel() }
  }

  /// Cancels the tasks that have begun.
  func cancel() {
    for task in state.withLock({ Array($0.tasks.values) }) { task.cancel() }
  }

  private func wait(for tasks: Set<Int>, as number: Int, until limit: LimitMark) async {
    await withCheckedContinuation { continuation in
      let isOver = state.withLock { state in
        let unfinished = tasks.filter { state.tasks[$0] != nil }
        guard !unfinished.isEmpty, !Task.isCancelled, !limit.hasPassed else { return true }
        state.finishers[number] = Finisher(unfinished: unfinished, continuation: continuation)
        return false
      }
      if isOver { continuation.resume() }
    }
  }

  private func leave(_ number: Int) {
    let finisher = state.withLock { $0.finishers.removeValue(forKey: number) }
    finisher?.continuation.resume()
  }

  private func ended(_ task: Int) {
    let finished = state.withLock { state in
      state.tasks[task] = nil
      for number in state.finishers.keys { state.finishers[number]?.unfinished.remove(task) }
      let finished = state.finishers.filter(\.value.unfinished.isEmpty)
      for number in finished.keys { state.finishers[number] = nil }
      return finished.values.map(\.continuation)
    }
    for continuation in finished { continuation.resume() }
  }
}
