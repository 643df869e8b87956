/// Runs asynchronous code for a caller that blocks its thread. The caller's thread itself runs the code, and
/// sleeps only while a store's threads read or write. No thread of the cooperative pool is needed, so this
/// works even if every thread of the pool is such a caller.
final class CallingThreadExecutor: TaskExecutor, @unchecked Sendable {
  // @unchecked Sendable because `condition` guards all mutable state.
  private let condition = NSCondition()
  private var jobs: [UnownedJob] = []
  private var isDone = false

  private init() {}

  /// Waits for `work`, whose asynchronous calls must be those of a store.
  static func wait<Value: Sendable>(_ work: @escaping @Sendable () async -> Value) -> Value {
    let caller = CallingThreadExecutor()
    let result = Result<Value>()
    Task(executorPreference: caller) {
      result.value = await work()
      caller.end()
    }
    while true {
      caller.runJobs()
      if let value = result.value { return value }
    }
  }

  /// The result of the work; written before `end` and read after it.
  private final class Result<Value: Sendable>: @unchecked Sendable {
    // @unchecked Sendable because the thread that writes it is the one that reads it.
    var value: Value?
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    condition.lock()
    jobs.append(job)
    condition.signal()
    condition.unlock()
  }

  private func end() {
    condition.lock()
    isDone = true
    condition.signal()
    condition.unlock()
  }

  /// Runs jobs, and waits for more until the work is done.
  private func runJobs() {
    while true {
      condition.lock()
      while jobs.isEmpty, !isDone { condition.wait() }
      let due = jobs
      jobs = []
      condition.unlock()
      if due.isEmpty { return }
      for job in due { job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
  }
}
