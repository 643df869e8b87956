import HTTPCacheSemantics
import Synchronization

/// The keys whose last response could not be shared: for a while, requests for them do not ask the tier.
final class UnshareableKeys: Sendable {
  static let pause = Duration.seconds(60)
  private static let limit = 4_096

  private let ends = Mutex<[CacheKey: Duration]>([:])

  /// Whether the tier need not be asked.
  func contains(_ key: CacheKey, uptime: Duration) -> Bool {
    ends.withLock { ends in
      guard let end = ends[key] else { return false }
      if uptime < end { return true }
      ends[key] = nil
      return false
    }
  }

  /// Notes that a response could not be shared.
  func insert(_ key: CacheKey, uptime: Duration) {
    ends.withLock { ends in
      if ends.count >= Self.limit { ends = ends.filter { $0.value > uptime } }
      if ends.count >= Self.limit { ends.removeAll() }
      ends[key] = uptime + Self.pause
    }
  }

  /// Notes that a response was shared.
  func remove(_ key: CacheKey) { ends.withLock { _ = $0.removeValue(forKey: key) } }
}
