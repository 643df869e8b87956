import Dispatch

/// Runs tasks outside of Swift's own threads, which other tasks need, and which callers may block. Each job has a serial
/// queue: on Linux, jobs of concurrent queues share as many threads as there are processors with the tasks of Swift.
package final class SeparateThreads: TaskExecutor {
  package static let shared = SeparateThreads()

  private init() {}

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    DispatchQueue(label: "HTTPCacheFiles.task").async {
      job.runSynchronously(on: self.asUnownedTaskExecutor())
    }
  }

  /// Runs `body` in the task of the caller, so that it sees whether the task is cancelled.
  ///
  /// - Throws: what `body` throws.
  package static func run<Value: Sendable>(_ body: @Sendable () throws -> Value) async throws -> Value {
    try await withTaskExecutorPreference(shared) { try body() }
  }
}
