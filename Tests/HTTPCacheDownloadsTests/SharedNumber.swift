import Synchronization

/// A number that a test changes, such as the free bytes of a file system.
final class SharedNumber: Sendable {
  private let stored: Mutex<Int64>

  init(_ value: Int64) { stored = Mutex(value) }

  var value: Int64 {
    get { stored.withLock { $0 } }
    set { stored.withLock { $0 = newValue } }
  }

  func add(_ difference: Int64) { stored.withLock { $0 += difference } }
}
