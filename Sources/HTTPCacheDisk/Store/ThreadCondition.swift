#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A lock with a condition that threads wait for.
final class ThreadCondition: @unchecked Sendable {
  // @unchecked Sendable because any thread may call the functions of a pthread mutex and its condition variable.
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let wake = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

  init() {
    mutex.initialize(to: pthread_mutex_t())
    wake.initialize(to: pthread_cond_t())
    pthread_mutex_init(mutex, nil)
    pthread_cond_init(wake, nil)
  }

  deinit {
    pthread_cond_destroy(wake)
    pthread_mutex_destroy(mutex)
    wake.deallocate()
    mutex.deallocate()
  }

  func lock() { pthread_mutex_lock(mutex) }

  func unlock() { pthread_mutex_unlock(mutex) }

  /// Wakes one waiting thread.
  func signal() { pthread_cond_signal(wake) }

  /// Wakes all waiting threads.
  func broadcast() { pthread_cond_broadcast(wake) }

  /// Waits until another thread signals; the caller holds the lock. May also return without a signal.
  ///
  /// - Returns: false after the deadline.
  func wait(until deadline: timespec) -> Bool {
    var deadline = deadline
    return pthread_cond_timedwait(wake, mutex, &deadline) != ETIMEDOUT
  }

  /// The time so many seconds from now, for `wait(until:)`.
  static func deadline(in seconds: Int) -> timespec {
    var deadline = timespec()
    clock_gettime(CLOCK_REALTIME, &deadline)
    deadline.tv_sec += seconds
    return deadline
  }
}
