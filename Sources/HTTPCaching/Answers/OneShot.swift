import HTTPCacheStore
import Synchronization

/// A value that is set once, and that one task waits for. Later values are ignored.
package final class OneShot<Value: Sendable>: Sendable {
  private enum State {
    case empty
    case waiting(CheckedContinuation<Value, Never>)
    case given(Value)
    case taken
  }

  private let state = Mutex(State.empty)

  package init() {}

  package func give(_ value: Value) {
    let waiting: CheckedContinuation<Value, Never>? = state.withLock { state in
      switch state {
      case .empty: state = .given(value)
      case .waiting(let continuation):
        state = .taken
        return continuation
      case .given, .taken: break
      }
      return nil
    }
    waiting?.resume(returning: value)
  }

  package func take() async -> Value {
    await withCheckedContinuation { continuation in
      let given: Value? = state.withLock { state in
        if case .given(let value) = state {
          state = .taken
          return value
        }
        state = .waiting(continuation)
        return nil
      }
      if let given { continuation.resume(returning: given) }
    }
  }

  /// Waits for the value; at the limit, and when the caller is cancelled, gives another one.
  ///
  /// - Parameters:
  ///   - limit: the longest time to wait; nil for no limit.
  ///   - leaving: called before the other value is given.
  func take(
    within limit: Duration?, _ clock: any CacheClock, otherwise other: Value,
    leaving: @escaping @Sendable () -> Void = {}
  ) async -> Value {
    let leave: @Sendable () -> Void = {
      leaving()
      self.give(other)
    }
    return await clock.limit(limit, onLimit: leave) {
      await withTaskCancellationHandler(operation: { await take() }, onCancel: leave)
    }
  }
}
