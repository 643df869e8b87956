import Synchronization

/// A condition of a test that becomes true once.
final class Flag: Sendable {
  private let state = Atomic<Bool>(false)

  var isSet: Bool { state.load(ordering: .acquiring) }

  func set() { state.store(true, ordering: .releasing) }
}
