import HTTPCacheDisk
import HTTPCacheSemantics
public import HTTPCacheStore
import Synchronization

/// An HTTP cache (RFC 9111): answers requests from what it has stored, and asks an upstream for the
/// rest.
///
/// ```swift
/// let cache = try HTTPCache.open(HTTPCache.Configuration(directory: "/var/cache/app"))
/// let response = try await cache.respond(to: request, via: upstream)
/// print(response.outcome)
/// ```
public final class HTTPCache: Sendable {
  /// What the cache was made with.
  public let configuration: Configuration
  /// Where responses are kept; changed by nothing but this cache, so that responses on their way learn of it.
  package let store: any CacheStore

  let coalescing: Coalescing
  let running = RunningTransfers()
  /// What was removed for good, so that nothing of it is stored that was asked for before.
  let wipes = InvalidationLog()
  let failedCompletions = FailedCompletions()
  let failedChanges = FailedChanges()
  let digest: SecretDigest
  let refusalLimit = RefusalLimit()
  let handout = Mutex<FileHandout?>(nil)
  let forcedOffline = Atomic<Bool>(false)
  let background: BackgroundWork

  /// Makes a cache over a store of the caller's.
  public init(configuration: Configuration, store: any CacheStore) {
    self.configuration = configuration
    self.store = store
    coalescing = Coalescing(clock: configuration.clock)
    background = BackgroundWork(limit: 64, executor: configuration.executor)
    digest = SecretDigester.make(key: store.secret)
  }

  /// Writes what is batched, so that nothing is lost when the process ends.
  public func flush() async { await store.flush() }

  /// Waits for the validations that run in the background (RFC 5861 §3), for a process that is about to
  /// end. When `limit` has passed, what is not done is cancelled, and this function returns without waiting for
  /// an upstream that takes no notice of it.
  ///
  /// - Parameter limit: the longest time to wait.
  public func finishBackgroundWork(within limit: Duration) async {
    await background.finish(within: limit, clock: configuration.clock)
  }

  func observe(_ event: @autoclosure () -> CacheEvent) {
    configuration.observer?.cache(did: event())
  }
}
