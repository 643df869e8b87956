import Synchronization

/// A counter that threads can share.
package final class Counter: Sendable {
  private let count = Atomic<Int>(0)

  package init() {}

  /// The number of increments.
  package var value: Int { count.load(ordering: .acquiring) }

  /// Adds 1.
  ///
  /// - Returns: the new value.
  @discardableResult
  package func increment() -> Int { count.add(1, ordering: .acquiringAndReleasing).newValue }
}
