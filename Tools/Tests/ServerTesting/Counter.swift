import Synchronization

/// Counts calls.
package final class Counter: Sendable {
  private let count = Mutex(0)

  package init() {}

  /// How many there were.
  package var value: Int { count.withLock { $0 } }

  /// One more; its number, the first being 1.
  @discardableResult
  package func increment() -> Int {
    count.withLock { count in
      count += 1
      return count
    }
  }
}
