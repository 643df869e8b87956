import HTTPCaching

/// The answer of a delegate, which may come late, twice or never: the first answer counts, and cancelling
/// ends the wait without an answer.
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
