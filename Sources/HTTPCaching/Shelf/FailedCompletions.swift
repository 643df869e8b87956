import HTTPCacheSemantics
import Synchronization

/// The keys whose incomplete responses could not be completed recently. The next request asks for the whole
/// response, so that an origin that answers ranges wrongly cannot make a target undeliverable.
final class FailedCompletions: Sendable {
  private static let limit = 1_024
  private let keys = Mutex<Set<CacheKey>>([])

  /// Whether to ask for the whole response.
  func contains(_ key: CacheKey) -> Bool { keys.withLock { $0.contains(key) } }

  /// Notes that completing failed: the origin sent nothing, or not the announced octets.
  func insert(_ key: CacheKey) {
    keys.withLock { keys in
      if keys.count >= Self.limit { keys.removeAll() }
      keys.insert(key)
    }
  }

  /// Notes that a response was stored anew, or completed.
  func remove(_ key: CacheKey) { _ = keys.withLock { $0.remove(key) } }
}
