import Dispatch
import HTTPCacheStore
import Synchronization

/// A few threads of the store for work that may block, so that the threads of Swift concurrency never block.
/// Jobs that are queued when the queue is released are still run.
final class WorkQueue: Sendable {
  // Serial queues: the system starts a thread for each that has work, however many threads are blocked. A
  // concurrent queue would take threads from Swift concurrency.
  private let lanes: [DispatchQueue]
  private let next = Atomic<Int>(0)

  init(threads: Int) { lanes = (0..<threads).map { _ in DispatchQueue(label: "HTTPCacheDisk") } }

  /// Queues a job without waiting for it.
  func submit(_ job: @escaping @Sendable () -> Void) {
    let number = lanes.count == 1 ? 0 : next.wrappingAdd(1, ordering: .relaxed).oldValue & .max
    lanes[number % lanes.count].async(execute: job)
  }

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
