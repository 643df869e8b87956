import Synchronization

/// The priority of a shared piece of work.
final class WorkHandle: Sendable {
  private let urgency: Atomic<Int>
  private let cause = Mutex<WorkHandle?>(nil)

  init(_ priority: ImagePriority) { urgency = Atomic(priority.rawValue) }

  /// The highest priority of the callers so far.
  var priority: Int { urgency.load(ordering: .relaxed) }

  /// Raises the priority of this work, and of the work that it waits for.
  func raise(to priority: Int) {
    urgency.max(priority, ordering: .relaxed)
    cause.withLock { $0 }?.raise(to: priority)
  }

  /// Names the work that this work waits for.
  func wait(for other: WorkHandle) {
    cause.withLock { $0 = other }
    other.raise(to: priority)
  }
}
