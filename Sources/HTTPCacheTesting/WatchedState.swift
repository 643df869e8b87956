import Synchronization

/// State that tests wait for: a lock, with tasks that wait until a condition on the state holds.
package final class WatchedState<State: Sendable>: Sendable {
  private struct Waiter {
    let condition: @Sendable (State) -> Bool
    let continuation: CheckedContinuation<Void, Never>
  }

  private struct Protected {
    var state: State
    var waiters: [Int: Waiter] = [:]
    var nextID = 0

    /// Removes the waiters whose condition holds.
    mutating func takeDue() -> [Waiter] {
      guard !waiters.isEmpty else { return [] }
      let state = state
      // In the order in which they began to wait: a simulation makes the same steps each time.
      let due = waiters.filter { $0.value.condition(state) }.sorted { $0.key < $1.key }
      for (id, _) in due { waiters[id] = nil }
      return due.map(\.value)
    }
  }

  private let protected: Mutex<Protected>

  package init(_ state: State) { protected = Mutex(Protected(state: state)) }

  /// Reads or changes the state under the lock, and wakes the tasks whose condition holds afterwards.
  package func withLock<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
    let (result, due) = protected.withLock { protected in
      let result = body(&protected.state)
      return (result, protected.takeDue())
    }
    for waiter in due { waiter.continuation.resume() }
    return result
  }

  /// Suspends until the condition holds. Returns early if the task is cancelled, so that a test ends when it
  /// exceeds its time limit.
  package func wait(until condition: @escaping @Sendable (State) -> Bool) async {
    let id = protected.withLock { protected in
      protected.nextID += 1
      return protected.nextID
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let waits = protected.withLock { protected in
          if Task.isCancelled || condition(protected.state) { return false }
          protected.waiters[id] = Waiter(condition: condition, continuation: continuation)
          return true
        }
        if !waits { continuation.resume() }
      }
    } onCancel: {
      let waiter = protected.withLock { $0.waiters.removeValue(forKey: id) }
      waiter?.continuation.resume()
    }
  }
}
