import Synchronization

/// Lets `100 Continue` through once, and only to a client that waits for it.
final class ContinueGate: Sendable {
  private let isOpen: Atomic<Bool>

  init(isNeeded: Bool) { isOpen = Atomic(isNeeded) }

  /// Whether it may be sent now.
  func passes() -> Bool { isOpen.exchange(false, ordering: .acquiringAndReleasing) }
}
