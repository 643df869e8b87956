#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// An event that one thread waits for, for a limited time, and another thread signals.
final class Event: @unchecked Sendable {
  // @unchecked Sendable because the flags are only read and written under `lock`. The lock is a pthread mutex
  // because waiting needs a condition variable.
  private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let wake = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private var hasHappened = false
  private var isAbandoned = false

  init() {
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

  /// Wakes the waiting thread. A thread that begins to wait later does not block.
  ///
  /// - Returns: false if the waiting thread has given up.
  @discardableResult
  func happen() -> Bool {
    pthread_mutex_lock(lock)
    defer { pthread_mutex_unlock(lock) }
    hasHappened = true
    pthread_cond_broadcast(wake)
    return !isAbandoned
  }

  /// Waits on the calling thread.
  ///
  /// - Returns: false if the event did not happen within `seconds`.
  func wait(seconds: Int) -> Bool {
    var deadline = timespec()
    clock_gettime(CLOCK_REALTIME, &deadline)
    deadline.tv_sec += seconds
    pthread_mutex_lock(lock)
    defer { pthread_mutex_unlock(lock) }
    while !hasHappened {
      if pthread_cond_timedwait(wake, lock, &deadline) == ETIMEDOUT { break }
    }
    isAbandoned = !hasHappened
    return hasHappened
  }
}
