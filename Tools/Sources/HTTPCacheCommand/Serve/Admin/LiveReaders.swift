import Synchronization

/// Limits the connections that read live figures.
final class LiveReaders: Sendable {
  private static let limit = 32

  private let count = Mutex(0)

  /// Adds a reader; false if there are too many.
  func begin() -> Bool {
    count.withLock { count in
      guard count < Self.limit else { return false }
      count += 1
      return true
    }
  }

  /// Removes a reader.
  func end() { count.withLock { $0 -= 1 } }
}
