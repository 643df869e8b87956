import Synchronization

/// What a delegate answers, which it may do late, twice or never: the first answer counts, and a wait
/// that is cancelled ends without one.
final class DelegateAnswer<Value: Sendable>: Sendable {
  private enum State {
    case asked
    case awaited(CheckedContinuation<Value, any Error>)
    case given(Result<Value, any Error>)
    case taken
  }

  private let state = Mutex(State.asked)

  private init() {}

  /// Asks, and waits for the answer.
  ///
  /// - Throws: `CancellationError`.
  static func wait(_ ask: (DelegateAnswer) -> Void) async throws -> Value {
    let answer = DelegateAnswer()
    ask(answer)
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { answer.hold($0) }
    } onCancel: {
      answer.give(.failure(CancellationError()))
    }
  }

  func give(_ value: Value) { give(.success(value)) }

  private func give(_ result: Result<Value, any Error>) {
    let continuation = state.withLock { state -> CheckedContinuation<Value, any Error>? in
      switch state {
      case .asked: state = .given(result)
      case .awaited(let continuation):
        state = .taken
        return continuation
      case .given, .taken: break
      }
      return nil
    }
    continuation?.resume(with: result)
  }

  private func hold(_ continuation: CheckedContinuation<Value, any Error>) {
    let result = state.withLock { state -> Result<Value, any Error>? in
      if case .given(let result) = state {
        state = .taken
        return result
      }
      state = .awaited(continuation)
      return nil
    }
    if let result { continuation.resume(with: result) }
  }
}
