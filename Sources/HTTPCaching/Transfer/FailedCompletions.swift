import HTTPCacheSemantics
import Synchronization

/// The keys whose incomplete responses could not be completed lately, so that the whole is asked for
/// next: an origin that answers ranges wrongly must not make a target undeliverable.
final class FailedCompletions: Sendable {
  private static let limit = 1_024
  private let keys = Mutex<Set<CacheKey>>([])

  /// Whether the whole is to be asked for.
  func contains(_ key: CacheKey) -> Bool { keys.withLock { $0.contains(key) } }

  /// Completing failed: it brought nothing, or not what it said.
  func insert(_ key: CacheKey) {
    keys.withLock { keys in
      if keys.count >= Self.limit { keys.removeAll() }
      keys.insert(key)
    }
  }

  /// Something was stored anew, or completed.
  func remove(_ key: CacheKey) { _ = keys.withLock { $0.remove(key) } }
}
