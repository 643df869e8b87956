import Foundation
import Synchronization

/// Runs asynchronous work on the calling thread. Without it the runtime starts the threads of
/// Dispatch, whose code valgrind cannot follow; and nothing else shall run beside what is measured.
final class Waiting: TaskExecutor {
  private let jobs = Mutex<[UnownedJob]>([])

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.withLock { $0.append(job) }
  }

  /// The result of `work`, nil if it waits for something that never comes.
  ///
  /// - Parameter others: whether it waits for threads of a store, which go on with it here.
  static func run<Result: Sendable>(
    waitingForOthers others: Bool = false, _ work: @escaping @Sendable () async throws -> Result
  ) throws -> Result? {
    let executor = Waiting()
    let box = Box<Result>()
    Task(executorPreference: executor) {
      do {
        let value = try await work()
        box.outcome.withLock { $0 = .success(value) }
      } catch {
        box.outcome.withLock { $0 = .failure(error) }
      }
    }
    while box.outcome.withLock({ $0 == nil }) {
      guard let job = executor.jobs.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else {
        if !others { break }
        usleep(100)
        continue
      }
      job.runSynchronously(on: executor.asUnownedTaskExecutor())
    }
    return try box.outcome.withLock { try $0?.get() }
  }

  private final class Box<Result: Sendable>: Sendable {
    let outcome = Mutex<Swift.Result<Result, any Error>?>(nil)
  }
}
