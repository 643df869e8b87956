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
  /// `onLimit` must wake `body`. Because the limit may pass before `body` begins to wait, `body` reads the
  /// mark under the lock that `onLimit` takes.
  ///
  /// - Parameter limit: the longest time; nil for no limit.
  func limit<Value>(
    _ limit: Duration?, onLimit: @escaping @Sendable () -> Void,
    _ body: (LimitMark) async throws -> Value
  ) async rethrows -> Value {
    let mark = LimitMark()
    // No caller waits for a year, and a clock may overflow.
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
