import Synchronization

/// Allows one `100 Continue`, and only for a client that waits for it.
final class ContinueGate: Sendable {
  private let isOpen: Atomic<Bool>

  init(isNeeded: Bool) { isOpen = Atomic(isNeeded) }

  /// Whether `100 Continue` may be sent now; true at most once.
  func passes() -> Bool { isOpen.exchange(false, ordering: .acquiringAndReleasing) }
}
