import HTTPCacheLibC
import Synchronization

/// Collects the jobs of all tasks of a simulation. The scheduler picks the job that runs next.
final class SeededExecutor: TaskExecutor {
  private struct State {
    var jobs: [UnownedJob] = []
    var hasForeignJob = false
  }

  private let state = Mutex(State())
  private let thread = pthread_self()

  /// The number of jobs that are ready to run.
  var count: Int { state.withLock { $0.jobs.count } }

  /// Whether another thread enqueued a job. The seed then no longer determines the order of the jobs.
  var hasForeignJob: Bool { state.withLock { $0.hasForeignJob } }

  /// Takes a job that became ready.
  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let isForeign = pthread_equal(pthread_self(), thread) == 0
    state.withLock { state in
      state.jobs.append(job)
      if isForeign { state.hasForeignJob = true }
    }
  }

  /// Runs a job on the caller's thread until its task suspends.
  ///
  /// - Parameter index: the position of the job in the order of becoming ready.
  func run(at index: Int) {
    let job = state.withLock { $0.jobs.remove(at: index) }
    job.runSynchronously(on: asUnownedTaskExecutor())
  }
}
