import Dispatch
import Synchronization

/// A few threads of the store for work that may block, so that the threads of Swift concurrency never block.
/// Jobs that are queued when the queue is released are still run.
package final class WorkQueue: Sendable {
  /// A serial queue: the system starts a thread for each that has work, however many threads are blocked. A
  /// concurrent queue would take threads from Swift concurrency.
  private struct Lane {
    let queue = DispatchQueue(label: "HTTPCacheFiles")
    var jobs = 0
  }

  private let lanes: Mutex<[Lane]>

  package init(threads: Int) { lanes = Mutex((0..<threads).map { _ in Lane() }) }

  /// Queues a job without waiting for it.
  package func submit(_ job: @escaping @Sendable () -> Void) {
    let (lane, queue) = lanes.withLock { lanes in
      var lane = 0
      for other in lanes.indices where lanes[other].jobs < lanes[lane].jobs { lane = other }
      lanes[lane].jobs += 1
      return (lane, lanes[lane].queue)
    }
    queue.async { [self] in
      job()
      lanes.withLock { $0[lane].jobs -= 1 }
    }
  }

  /// Runs work on one of the threads and suspends until it is done.
  package func run<Value: Sendable, Failure: Error>(
    _ work: @escaping @Sendable () throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    // The result passes through a lock: the thread sanitizer does not know that a continuation orders memory
    // accesses, and would report each result as a race.
    let handover = Handover<Value, Failure>()
    await withUnsafeContinuation { continuation in
      submit {
        let result: Result<Value, Failure>
        do throws(Failure) { result = .success(try work()) } catch { result = .failure(error) }
        handover.result.withLock { $0 = result }
        continuation.resume()
      }
    }
    // The result is there: the continuation was resumed after it was set.
    while true { if let result = handover.result.withLock({ $0 }) { return try result.get() } }
  }
}

/// Holds a result until the waiting task has woken.
private final class Handover<Value: Sendable, Failure: Error>: Sendable {
  let result = Mutex<Result<Value, Failure>?>(nil)
}
