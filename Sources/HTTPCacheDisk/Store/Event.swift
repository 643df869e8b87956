/// An event that one thread waits for, for a limited time, and another thread signals.
final class Event: @unchecked Sendable {
  // @unchecked Sendable because the flags are only read and written under the lock of `condition`.
  private let condition = ThreadCondition()
  private var hasHappened = false
  private var isAbandoned = false

  /// Wakes the waiting thread. A thread that begins to wait later does not block.
  ///
  /// - Returns: false if the waiting thread has given up.
  @discardableResult
  func happen() -> Bool {
    condition.lock()
    defer { condition.unlock() }
    hasHappened = true
    condition.broadcast()
    return !isAbandoned
  }

  /// Waits on the calling thread.
  ///
  /// - Returns: false if the event did not happen within `seconds`.
  func wait(seconds: Int) -> Bool {
    let deadline = ThreadCondition.deadline(in: seconds)
    condition.lock()
    defer { condition.unlock() }
    while !hasHappened { guard condition.wait(until: deadline) else { break } }
    isAbandoned = !hasHappened
    return hasHappened
  }
}
