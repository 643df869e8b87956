import HTTPCaching

/// What a delegate answers, which it may do late, twice or never: the first answer counts, and a wait
/// that is cancelled ends without one.
struct DelegateAnswer<Value: Sendable>: Sendable {
  private let given = OneShot<Result<Value, CancellationError>>()

  private init() {}

  /// Asks, and waits for the answer.
  ///
  /// - Throws: `CancellationError`.
  static func wait(_ ask: (DelegateAnswer) -> Void) async throws -> Value {
    let answer = DelegateAnswer()
    ask(answer)
    return try await withTaskCancellationHandler {
      try await answer.given.take().get()
    } onCancel: {
      answer.given.give(.failure(CancellationError()))
    }
  }

  func give(_ value: Value) { given.give(.success(value)) }
}
