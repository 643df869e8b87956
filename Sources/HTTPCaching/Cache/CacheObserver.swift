/// Receives the cache's events. Called on the thread on which the event happens; must return quickly.
public protocol CacheObserver: Sendable {
  /// Called for each event.
  func observe(_ event: CacheEvent)
}
