#if Redis
  import HTTPCaching
  import Synchronization

  /// A task that waits for replies until they come, or until it is cancelled. The replies of a cancelled task still come,
  /// and are dropped.
  final class RedisWaiter: Sendable {
    typealias Outcome = Result<[RESPValue], SharedTierError>

    private enum State {
      case idle
      case waiting(CheckedContinuation<Outcome, Never>)
      case ended(Outcome)
    }

    private let state = Mutex(State.idle)

    /// The outcome of what `begin` begins, or of a cancellation.
    func outcome(of begin: (RedisWaiter) -> Void) async -> Outcome {
      await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
          let ended: Outcome? = state.withLock { state in
            if case .ended(let outcome) = state { return outcome }
            state = .waiting(continuation)
            return nil
          }
          if let ended { return continuation.resume(returning: ended) }
          begin(self)
        }
      } onCancel: {
        end(.failure(SharedTierError(.unreachable, "the task was cancelled")))
      }
    }

    /// Ends the waiting; the first outcome counts.
    func end(_ outcome: Outcome) {
      let continuation: CheckedContinuation<Outcome, Never>? = state.withLock { state in
        switch state {
        case .idle:
          state = .ended(outcome)
          return nil
        case .waiting(let continuation):
          state = .ended(outcome)
          return continuation
        case .ended: return nil
        }
      }
      continuation?.resume(returning: outcome)
    }
  }
#endif
