import HTTPCacheStore

/// Where a hook runs, and how its time limit is kept.
package struct HookTurn: Sendable {
  let executor: (any TaskExecutor)?
  let wait: @Sendable (Duration) async throws -> Void

  /// In separate tasks, beside the caller's task.
  package static func concurrent(_ clock: any CacheClock, executor: (any TaskExecutor)?) -> HookTurn {
    HookTurn(executor: executor) { try await clock.sleep(for: $0) }
  }

  /// On the calling thread, and after each suspension on the thread that resumes it. Needs no thread of the
  /// cooperative pool, so the caller may block one of those threads.
  ///
  /// - Parameter wait: waits, without using a thread of the pool.
  package static func inPlace(
    wait: @escaping @Sendable (Duration) async -> Void
  ) -> HookTurn { HookTurn(executor: InPlaceExecutor(), wait: wait) }
}

/// Runs each part of a task on the thread that makes it runnable.
private final class InPlaceExecutor: TaskExecutor {
  func enqueue(_ job: consuming ExecutorJob) {
    UnownedJob(job).runSynchronously(on: asUnownedTaskExecutor())
  }
}
