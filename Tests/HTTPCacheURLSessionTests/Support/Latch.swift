import Foundation

/// Holds the thread of a connection until it is opened; then it stays open.
final class Latch: @unchecked Sendable {
  // @unchecked Sendable because `condition` guards `isOpenNow`.
  private let condition = NSCondition()
  private var isOpenNow = false

  func open() {
    condition.lock()
    isOpenNow = true
    condition.broadcast()
    condition.unlock()
  }

  /// Waits at most `seconds`; returns whether it is open.
  func isOpen(within seconds: TimeInterval) -> Bool {
    condition.lock()
    defer { condition.unlock() }
    if !isOpenNow { _ = condition.wait(until: Date(timeIntervalSinceNow: seconds)) }
    return isOpenNow
  }
}
