import CSystemShims
import HTTPCacheStore
import Synchronization

/// A few threads of the store for work that may block, so that the threads of Swift concurrency never block.
///
/// A thread starts when there is work and ends after some seconds without work. Jobs that are queued when the
/// queue is released are still run.
final class WorkQueue: Sendable {
  typealias Job = @Sendable () -> Void

  private let shared: Shared

  init(threads: Int) { shared = Shared(threadLimit: threads) }

  deinit { shared.close() }

  /// Queues a job without waiting for it.
  func submit(_ job: @escaping Job) { shared.submit(job) }

  /// Runs work on one of the threads and suspends until it is done.
  func run<Value: Sendable>(
    _ work: @escaping @Sendable () throws(CacheError) -> Value
  ) async throws(CacheError) -> Value {
    // The result passes through a lock: the thread sanitizer does not know that a continuation orders memory
    // accesses, and would report each result as a race.
    let handover = Handover<Value>()
    await withUnsafeContinuation { continuation in
      submit {
        let result: Result<Value, CacheError>
        do throws(CacheError) { result = .success(try work()) } catch { result = .failure(error) }
        handover.result.withLock { $0 = result }
        continuation.resume()
      }
    }
    return try handover.take()
  }

  private final class Shared: @unchecked Sendable {
    // @unchecked Sendable because every mutable property is only read and written under the lock of `condition`.
    private let condition = ThreadCondition()
    private let threadLimit: Int
    private var jobs: [Job] = []
    private var next = 0
    private var threads = 0
    private var idle = 0
    private var isClosed = false

    init(threadLimit: Int) { self.threadLimit = threadLimit }

    func submit(_ job: @escaping Job) {
      condition.lock()
      jobs.append(job)
      if jobs.count - next <= idle {
        condition.unlock()
        // Signal after unlocking: the woken thread would otherwise wait for the lock at once.
        condition.signal()
        return
      }
      let needsThread = threads < threadLimit
      if needsThread { threads += 1 }
      condition.unlock()
      guard needsThread, !start() else { return }
      // The system provides no thread. If the queue has no thread at all, the caller runs the jobs.
      condition.lock()
      threads -= 1
      let isAlone = threads == 0
      condition.unlock()
      if isAlone { while let job = take(waiting: false) { job() } }
    }

    func close() {
      condition.lock()
      isClosed = true
      condition.broadcast()
      condition.unlock()
    }

    private func start() -> Bool {
      let context = Unmanaged.passRetained(self)
      let result = shim_start_thread(
        { pointer in
          guard let pointer else { return }
          Unmanaged<Shared>.fromOpaque(pointer).takeRetainedValue().work()
        }, context.toOpaque())
      if result != 0 { context.release() }
      return result == 0
    }

    private func work() { while let job = take(waiting: true) { job() } }

    /// The next job; nil if there is none and none came for some seconds. If a waiting thread gets nil,
    /// `threads` no longer counts it.
    private func take(waiting: Bool) -> Job? {
      condition.lock()
      defer { condition.unlock() }
      var wasIdleTooLong = false
      while next == jobs.count {
        guard waiting else { return nil }
        if isClosed || wasIdleTooLong {
          threads -= 1
          return nil
        }
        idle += 1
        wasIdleTooLong = !condition.wait(until: ThreadCondition.deadline(in: 5))
        idle -= 1
      }
      let job = jobs[next]
      jobs[next] = {}
      next += 1
      if next == jobs.count {
        jobs.removeAll(keepingCapacity: next < 1024)
        next = 0
      }
      return job
    }
  }
}

/// Holds a result until the waiting task has woken.
final class Handover<Value: Sendable>: Sendable {
  let result = Mutex<Result<Value, CacheError>?>(nil)

  func take() throws(CacheError) -> Value {
    guard let result = result.withLock({ $0 }) else {
      throw CacheError(.closed, "the work was not done")
    }
    return try result.get()
  }
}
