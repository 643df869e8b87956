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

/// Waits until a condition that depends on other threads holds: at least a minute.
func until(_ condition: () async throws -> Bool) async throws {
  for attempt in 0..<60_000 {
    if try await condition() { return }
    if attempt < 100 { await Task.yield() } else { try await Task.sleep(for: .milliseconds(1)) }
  }
  Issue.record("it did not come about")
}
