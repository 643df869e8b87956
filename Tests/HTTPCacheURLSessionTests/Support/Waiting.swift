import HTTPCacheTesting
import Testing

/// The value that a completion handler gets, for a test that waits for it. The wait ends when the test is
/// cancelled.
struct Received<Value: Sendable>: Sendable {
  private let state = WatchedState(Value?.none)

  func take(_ value: Value) { state.withLock { $0 = value } }

  /// Suspends until there is a value; nil if the task is cancelled before.
  var value: Value? {
    get async {
      await state.wait { $0 != nil }
      return state.withLock { $0 }
    }
  }
}
