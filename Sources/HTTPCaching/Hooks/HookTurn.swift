import HTTPCacheStore

/// Where a hook runs, and what ends its time.
package struct HookTurn: Sendable {
  let executor: (any TaskExecutor)?
  let wait: @Sendable (Duration) async throws -> Void

  /// In tasks beside that of the caller.
  static func concurrent(_ clock: any CacheClock, executor: (any TaskExecutor)?) -> HookTurn {
    HookTurn(executor: executor) { try await clock.sleep(for: $0) }
  }

  /// On the thread that asks, and after each suspension on the one that ends it. Needs no thread of the
  /// cooperative pool, so that a caller may block one of those meanwhile.
  ///
  /// - Parameter wait: waits, on no thread of the pool either.
  package static func inPlace(
    wait: @escaping @Sendable (Duration) async -> Void
  ) -> HookTurn { HookTurn(executor: InPlaceExecutor(), wait: wait) }
}

/// Runs each part of a task on the thread on which it became due.
private final class InPlaceExecutor: TaskExecutor {
  func enqueue(_ job: consuming ExecutorJob) {
    UnownedJob(job).runSynchronously(on: asUnownedTaskExecutor())
  }
}
