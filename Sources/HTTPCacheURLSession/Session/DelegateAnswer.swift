import HTTPCaching

/// The answer of a delegate, which may come late, twice or never: the first answer counts, and cancelling
/// ends the wait without an answer.
enum DelegateAnswer<Value: Sendable> {
  /// Asks in a delegate queue, and waits for the answer.
  ///
  /// - Throws: `CancellationError`.
  static func wait(
    in queue: OperationQueue, _ ask: @escaping @Sendable (@escaping @Sendable (Value) -> Void) -> Void
  ) async throws -> Value {
    let given = OneShot<Result<Value, CancellationError>>()
    queue.addOperation { ask { given.give(.success($0)) } }
    return try await withTaskCancellationHandler {
      try await given.take().get()
    } onCancel: {
      given.give(.failure(CancellationError()))
    }
  }
}
