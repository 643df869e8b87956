/// Is told what the cache does. Called on whatever thread it happens; must return quickly.
public protocol CacheObserver: Sendable {
  /// Something happened.
  func cache(did event: CacheEvent)
}
