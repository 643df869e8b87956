import Synchronization

/// A number that does not exceed a limit, without a lock.
final class BoundedCount: Sendable {
  private let limit: Int
  private let count = Atomic<Int>(0)

  init(limit: Int) { self.limit = limit }

  /// Adds one.
  ///
  /// - Returns: false if the limit is reached.
  func add() -> Bool {
    guard count.add(1, ordering: .relaxed).newValue > limit else { return true }
    subtract()
    return false
  }

  /// Subtracts one that was added.
  func subtract() { count.subtract(1, ordering: .relaxed) }
}
