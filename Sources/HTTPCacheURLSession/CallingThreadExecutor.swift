/// Runs asynchronous code for a caller that blocks its thread. The caller's thread itself runs the code, and
/// sleeps only while a store's threads read or write. No thread of the cooperative pool is needed, so this
/// works even if every thread of the pool is such a caller. Tasks that the work leaves behind go on on a thread of Dispatch.
final class CallingThreadExecutor: TaskExecutor, @unchecked Sendable {
  // @unchecked Sendable because `condition` guards all mutable state.
  private let condition = NSCondition()
  private var jobs: [UnownedJob] = []
  private var isDone = false
  /// Whether the calling thread runs no more jobs.
  private var hasLeft = false

  private init() {}

  /// Waits for `work`, whose asynchronous calls must be those of a store.
  static func wait<Value: Sendable>(_ work: @escaping @Sendable () async -> Value) -> Value {
    wait { _ in await work() }
  }

  /// Waits for `work`, whose asynchronous calls must be those of a store or of tasks on the executor that it gets.
  static func wait<Value: Sendable>(
    _ work: @escaping @Sendable (CallingThreadExecutor) async -> Value
  ) -> Value {
    let caller = CallingThreadExecutor()
    let result = Result<Value>()
    Task(executorPreference: caller) {
      result.value = await work(caller)
      caller.end()
    }
    while true {
      caller.runJobs()
      if let value = result.value {
        caller.leave()
        return value
      }
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
    let hasLeft = hasLeft
    if !hasLeft { jobs.append(job) }
    condition.signal()
    condition.unlock()
    // Never here: this thread may be cancelling the task of the job, and holds its lock meanwhile.
    if hasLeft { runElsewhere(job) }
  }

  private func leave() {
    condition.lock()
    hasLeft = true
    let left = jobs
    jobs = []
    condition.unlock()
    left.forEach(runElsewhere)
  }

  private func runElsewhere(_ job: UnownedJob) {
    DispatchQueue.global().async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
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
      let due = isDone ? [] : jobs
      if !isDone { jobs = [] }
      condition.unlock()
      if due.isEmpty { return }
      for job in due { job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
  }
}
