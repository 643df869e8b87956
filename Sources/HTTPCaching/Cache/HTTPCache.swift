import HTTPCacheDisk
import HTTPCacheSemantics
public import HTTPCacheStore
import Synchronization

/// An HTTP cache (RFC 9111): answers requests from its store, and asks an upstream for the rest.
///
/// ```swift
/// let cache = try HTTPCache.open(HTTPCache.Configuration(directory: "/var/cache/app"))
/// let response = try await cache.respond(to: request, via: upstream)
/// print(response.outcome)
/// ```
public final class HTTPCache: Sendable {
  /// The configuration that the cache was made with.
  public let configuration: Configuration
  /// The store that the cache was made with.
  private let openStore: any CacheStore
  private let isClosed = Atomic<Bool>(false)
  /// The store. Only this cache changes it, so that running transfers learn of each change.
  package var store: any CacheStore { isClosed.load(ordering: .relaxed) ? ClosedStore.shared : openStore }

  let coalescing: Coalescing
  let running = RunningTransfers()
  /// Wiped partitions: responses to requests that were sent before the wipe are not stored.
  let wipes = InvalidationLog()
  let failedCompletions = FailedCompletions()
  let failedChanges = FailedChanges()
  let digest: SecretDigest
  let refusalLimit = RefusalLimit()
  let handout = Mutex<FileHandout?>(nil)
  let forcedOffline = Atomic<Bool>(false)
  let background: BackgroundWork
  let watches = EntryWatches()

  /// Makes a cache over a store that the caller provides. The configuration's seeds answer below the store.
  public init(configuration: Configuration, store: any CacheStore) {
    self.configuration = configuration
    openStore = configuration.seeded(store)
    coalescing = Coalescing(clock: configuration.clock)
    background = BackgroundWork(limit: 64, executor: configuration.executor)
    digest = SecretDigester.make(key: store.secret)
  }

  /// Writes batched changes, so that no change is lost when the process ends.
  public func flush() async { await store.flush() }

  /// Cancels background validations, writes batched changes, and closes the store with its connections to the
  /// index.
  ///
  /// Afterwards each request is a miss, its response is not stored, and the observer receives `.storeFailed` with
  /// `CacheError.Code.closed`. Responses that are being stored still reach their readers, but are not stored. Calling
  /// this function again has no effect.
  ///
  /// A cache that is released without this call loses changes that were batched after the last `flush()`: counts,
  /// times of use, notes of refusals. It loses no response.
  public func close() async {
    guard !isClosed.exchange(true, ordering: .relaxed) else { return }
    background.cancel()
    await openStore.close()
  }

  /// Waits for background validations (RFC 5861 §3); for a process that is about to end. When `limit` has
  /// passed, cancels the remaining ones and returns without waiting for an upstream that ignores its
  /// cancellation.
  ///
  /// - Parameter limit: the longest time to wait.
  public func finishBackgroundWork(within limit: Duration) async {
    await background.finish(within: limit, clock: configuration.clock)
  }

  func observe(_ event: @autoclosure () -> CacheEvent) {
    let observer = configuration.observer
    guard observer != nil || !watches.isEmpty else { return }
    let event = event()
    observer?.observe(event)
    watches.tell(event)
  }
}
