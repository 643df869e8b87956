import Synchronization

/// Lets a limited number of tasks work at once: of those that wait, the most urgent one, then the oldest.
final class Permits: Sendable {
  private struct Waiting {
    let handle: WorkHandle
    let continuation: CheckedContinuation<Void, any Error>
  }

  private struct State {
    var free: Int
    var next = 0
    var waiting: [Int: Waiting] = [:]
  }

  private let state: Mutex<State>

  init(_ limit: Int) { state = Mutex(State(free: max(limit, 1))) }

  /// The priorities of the tasks that wait, as they are now.
  var waitingPriorities: [Int] { state.withLock { $0.waiting.values.map(\.handle.priority) } }

  /// Calls `body` with a permit.
  ///
  /// - Throws: what `body` throws; `CancellationError` when the task is cancelled while it waits.
  func with<Value>(_ handle: WorkHandle, _ body: () async throws -> Value) async throws -> Value {
    try await acquire(handle)
    defer { release() }
    return try await body()
  }

  private func acquire(_ handle: WorkHandle) async throws {
    let number = state.withLock { state in
      state.next += 1
      return state.next
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let immediate: Result<Void, any Error>? = state.withLock { state in
          if Task.isCancelled { return .failure(CancellationError()) }
          if state.free > 0 {
            state.free -= 1
            return .success(())
          }
          state.waiting[number] = Waiting(handle: handle, continuation: continuation)
          return nil
        }
        if let immediate { continuation.resume(with: immediate) }
      }
    } onCancel: {
      let waiting = state.withLock { $0.waiting.removeValue(forKey: number) }
      waiting?.continuation.resume(throwing: CancellationError())
    }
  }

  private func release() {
    let next = state.withLock { state -> Waiting? in
      // Priorities change while tasks wait, so the order is made when a permit is free.
      let first = state.waiting.max {
        ($0.value.handle.priority, $1.key) < ($1.value.handle.priority, $0.key)
      }
      guard let first else {
        state.free += 1
        return nil
      }
      return state.waiting.removeValue(forKey: first.key)
    }
    next?.continuation.resume()
  }
}
