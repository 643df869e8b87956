import CSystemShims
import HTTPCacheStore
import Synchronization

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A few threads of the store's own for work that may block, so that the cooperative pool never does.
///
/// Threads start when there is work and end after some seconds without; what is queued when the queue
/// is dropped is still done.
final class WorkQueue: Sendable {
  typealias Job = @Sendable () -> Void

  private let shared: Shared

  init(threads: Int) { shared = Shared(threadLimit: threads) }

  deinit { shared.close() }

  /// Queues work; without waiting for it.
  func submit(_ job: @escaping Job) { shared.submit(job) }

  /// Does work on one of the threads and suspends until it is done.
  func run<Value: Sendable>(
    _ work: @escaping @Sendable () throws(CacheError) -> Value
  ) async throws(CacheError) -> Value {
    // The result goes through a lock, since the thread sanitizer does not see what a continuation
    // orders and would report each result as a race.
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
    // @unchecked Sendable because every mutable property is read and written under `lock` alone, which
    // is a pthread mutex since waiting needs a condition variable.
    private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let wake = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private let threadLimit: Int
    private var jobs: [Job] = []
    private var next = 0
    private var threads = 0
    private var idle = 0
    private var isClosed = false

    init(threadLimit: Int) {
      self.threadLimit = threadLimit
      lock.initialize(to: pthread_mutex_t())
      wake.initialize(to: pthread_cond_t())
      pthread_mutex_init(lock, nil)
      pthread_cond_init(wake, nil)
    }

    deinit {
      pthread_cond_destroy(wake)
      pthread_mutex_destroy(lock)
      wake.deallocate()
      lock.deallocate()
    }

    func submit(_ job: @escaping Job) {
      pthread_mutex_lock(lock)
      jobs.append(job)
      if jobs.count - next <= idle {
        pthread_mutex_unlock(lock)
        // Who is woken before this would have to wait for the lock at once.
        pthread_cond_signal(wake)
        return
      }
      let needsThread = threads < threadLimit
      if needsThread { threads += 1 }
      pthread_mutex_unlock(lock)
      guard needsThread, !start() else { return }
      // The system gives no thread: if there is none at all, the caller does the work.
      pthread_mutex_lock(lock)
      threads -= 1
      let isAlone = threads == 0
      pthread_mutex_unlock(lock)
      if isAlone { while let job = take(waiting: false) { job() } }
    }

    func close() {
      pthread_mutex_lock(lock)
      isClosed = true
      pthread_cond_broadcast(wake)
      pthread_mutex_unlock(lock)
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

    /// The next job; nil when there is none and none came for a while. A waiting thread that gets nil
    /// has been taken off the count.
    private func take(waiting: Bool) -> Job? {
      pthread_mutex_lock(lock)
      defer { pthread_mutex_unlock(lock) }
      var wasIdleTooLong = false
      while next == jobs.count {
        guard waiting else { return nil }
        if isClosed || wasIdleTooLong {
          threads -= 1
          return nil
        }
        idle += 1
        wasIdleTooLong = waitSomeSeconds()
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

    private func waitSomeSeconds() -> Bool {
      var deadline = timespec()
      clock_gettime(CLOCK_REALTIME, &deadline)
      deadline.tv_sec += 5
      return pthread_cond_timedwait(wake, lock, &deadline) == ETIMEDOUT
    }
  }
}

/// Where a result lies until the one who waits for it has woken.
final class Handover<Value: Sendable>: Sendable {
  let result = Mutex<Result<Value, CacheError>?>(nil)

  func take() throws(CacheError) -> Value {
    guard let result = result.withLock({ $0 }) else {
      throw CacheError(.closed, "the work was not done")
    }
    return try result.get()
  }
}
