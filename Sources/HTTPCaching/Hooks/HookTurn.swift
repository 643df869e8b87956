import HTTPCacheStore

/// Where a hook runs, and how its time limit is kept.
package struct HookTurn: Sendable {
  let executor: (any TaskExecutor)?
  let wait: @Sendable (Duration) async throws -> Void

  /// - Parameters:
  ///   - executor: runs the hook; nil is Swift's default executor.
  ///   - wait: waits as long as the hook may take.
  package init(executor: (any TaskExecutor)?, wait: @escaping @Sendable (Duration) async throws -> Void) {
    (self.executor, self.wait) = (executor, wait)
  }

  /// In separate tasks, beside the caller's task.
  package static func concurrent(_ clock: any CacheClock, executor: (any TaskExecutor)?) -> HookTurn {
    HookTurn(executor: executor) { try await clock.sleep(for: $0) }
  }
}
