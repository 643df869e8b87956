import Synchronization

/// The requests whose last response could not be shared: for a while, they do not ask the tier.
final class UnshareableKeys: Sendable {
  static let pause = Duration.seconds(60)
  private static let limit = 4_096

  private let ends = Mutex<[RequestSort: Duration]>([:])

  /// Whether the tier need not be asked.
  func contains(_ sort: RequestSort, uptime: Duration) -> Bool {
    ends.withLock { ends in
      guard let end = ends[sort] else { return false }
      if uptime < end { return true }
      ends[sort] = nil
      return false
    }
  }

  /// Notes that a response could not be shared.
  func insert(_ sort: RequestSort, uptime: Duration) {
    ends.withLock { ends in
      if ends.count >= Self.limit { ends = ends.filter { $0.value > uptime } }
      if ends.count >= Self.limit { ends.removeAll() }
      ends[sort] = uptime + Self.pause
    }
  }

  /// Notes that a response was shared.
  func remove(_ sort: RequestSort) { ends.withLock { _ = $0.removeValue(forKey: sort) } }
}
