import HTTPCacheStore
import Synchronization

/// Whether a limit has passed.
final class LimitMark: Sendable {
  private let value = Atomic<Bool>(false)

  var hasPassed: Bool { value.load(ordering: .acquiring) }

  func pass() { value.store(true, ordering: .releasing) }
}

extension CacheClock {
  /// Runs `body`, and `onLimit` if `body` takes longer than `limit`.
  ///
  /// `onLimit` has to wake what `body` waits for. The limit may pass before `body` begins to wait: so `body` asks
  /// the mark under the lock that `onLimit` takes.
  ///
  /// - Parameter limit: nil for none.
  func limit<Value>(
    _ limit: Duration?, onLimit: @escaping @Sendable () -> Void,
    _ body: (LimitMark) async throws -> Value
  ) async rethrows -> Value {
    let mark = LimitMark()
    // No caller waits for a year, and clocks may not count that far.
    guard let limit, limit < .seconds(366 * 86_400) else { return try await body(mark) }
    return try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        do { try await sleep(for: limit) } catch { return }
        mark.pass()
        onLimit()
      }
      defer { group.cancelAll() }
      return try await body(mark)
    }
  }
}
