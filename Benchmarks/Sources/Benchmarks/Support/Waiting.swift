import Dispatch
import Synchronization

/// Runs asynchronous work on the calling thread. Otherwise the runtime starts Dispatch threads, which
/// valgrind cannot follow, and nothing else should run during a measurement.
final class Waiting: TaskExecutor {
  private let jobs = Mutex<[UnownedJob]>([])
  // Signalled for each job: a loop that asks again and again would be counted as instructions.
  private let newJobs = DispatchSemaphore(value: 0)

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.withLock { $0.append(job) }
    newJobs.signal()
  }

  /// The result of `work`; nil if it waits for an event that never happens.
  ///
  /// - Parameters:
  ///   - executor: runs the work, and the tasks of a cache that has it in its configuration.
  ///   - others: whether it waits for threads of a store, which resume it here.
  static func run<Result: Sendable>(
    on executor: Waiting = Waiting(), waitingForOthers others: Bool = false,
    _ work: @escaping @Sendable () async throws -> Result
  ) throws -> Result? {
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
        executor.newJobs.wait()
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
