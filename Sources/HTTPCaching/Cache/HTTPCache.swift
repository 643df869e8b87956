import HTTPCacheDisk
package import HTTPCacheSemantics
public import HTTPCacheStore
package import HTTPTypes

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
  let engine: Engine
  package let attachments = Attachments()

  /// Makes a cache over a store that the caller provides. The configuration's seeds answer below the store.
  public convenience init(configuration: Configuration, store: any CacheStore) {
    self.init(Engine(configuration: configuration, store: store, usesDirectory: true))
  }

  private init(_ engine: Engine) {
    configuration = engine.configuration
    self.engine = engine
  }

  /// A cache over the same store with other rules: what one of the two changes reaches the running requests of both.
  package func using(_ rules: CacheRules) -> HTTPCache { HTTPCache(Engine(sharing: engine, rules: rules)) }

  /// Another face of the engine, for an object among the `attachments` of this one.
  package var attachedFace: HTTPCache { HTTPCache(engine) }

  /// Opens a cache: memory over disk, as the configuration says.
  ///
  /// If the directory cannot be used (not writable, full, vanished), the cache works in memory and the observer
  /// receives `.storeFailed`. Removals and invalidations then leave what the directory has: it is used again by a cache
  /// that can open the directory. The observer receives `.encryption` about encryption in the directory: responses
  /// under another key stay there; responses in plain text are removed before this function returns, which
  /// takes a while if there are many.
  ///
  /// - Parameters:
  ///   - configuration: how it is to be.
  ///   - fallsBackToMemory: whether a directory that cannot be used leaves the cache in memory; if not, the
  ///     error is thrown.
  /// - Throws: `CacheError` with `invalidValue` for a value that a property cannot have, such as a negative capacity;
  ///   with `newerFormat` if a newer version wrote the directory, which then
  ///   stays untouched; what making the cipher throws, since nothing may be stored without it then.
  public static func open(
    _ configuration: Configuration, fallsBackToMemory: Bool = true
  ) throws(CacheError) -> HTTPCache {
    try configuration.check()
    var configuration = configuration
    configuration.directory = configuration.directory.map { DirectoryPath.absolute($0) }
    let opened = try configuration.openStore(fallsBackToMemory: fallsBackToMemory)
    return HTTPCache(
      Engine(configuration: configuration, store: opened.store, usesDirectory: opened.usesDirectory))
  }

  /// The store. Only the `Shelf` that this cache shares with those of `using(_:)` removes and invalidates, so that running
  /// transfers learn of each change.
  package var store: any CacheStore { engine.shelf.store }

  // MARK: Ending

  /// Writes batched changes, so that no change is lost when the process ends.
  @concurrent
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
  @concurrent
  public func close() async {
    await engine.shelf.close { engine.background.cancel() }
  }

  /// Waits for background validations (RFC 5861 §3), and until stored responses are published to other nodes; for a
  /// process that is about to end. When `limit` has passed, cancels the remaining ones and returns without waiting for an
  /// upstream that ignores its cancellation.
  ///
  /// - Parameter limit: the longest time to wait.
  @concurrent
  public func finishBackgroundWork(within limit: Duration) async {
    let start = engine.clock.uptime
    await engine.background.finish(within: limit, clock: engine.clock)
    guard let fleet = engine.fleet else { return }
    let rest = max(.zero, limit - (engine.clock.uptime - start))
    await fleet.background.finish(within: rest, clock: engine.clock)
  }

  /// Whether the cache works without its origins: from the next request on, also for background validation,
  /// each origin counts as unreachable (RFC 9111 §4.2.4), and a request with an unsafe method fails. False at
  /// first. Running requests continue.
  public var isOffline: Bool {
    get { engine.isOffline }
    set { engine.isOffline = newValue }
  }

  /// Evicts from memory until at most `bytes` are in use, for an app that received a memory warning. What is
  /// on disk, the capacity and pinned entries do not change.
  ///
  /// - Parameter bytes: the bytes that may stay in memory; 0 keeps nothing.
  public func trimMemory(to bytes: Int64 = 0) { store.trimMemory(to: bytes) }
}

/// Functions that only other modules of this library need.
extension HTTPCache {
  /// Like `peek(_:options:)`, for a door that otherwise calls `respond`. Nil as long as there are changes that the
  /// store failed to make, because `respond` tries them again.
  ///
  /// - Parameter mayUse: whether the caller accepts the stored head.
  package func peek(
    _ request: HTTPRequest, options: RequestOptions, where mayUse: (HTTPResponse) -> Bool
  ) -> CacheResponse? {
    guard let place = try? engine.lookup.place(of: request, options: options) else { return nil }
    return engine.peek(request, at: place, options: options, where: mayUse)
  }

  /// The stored response to a request, whatever its age, with the request's `Range` applied; conditions are
  /// ignored. Nil if nothing is stored, or less than the request asks for.
  ///
  /// - Parameters:
  ///   - partition: as in `RequestOptions.partition`.
  ///   - forms: the forms of the body that the caller can use.
  ///   - isCounted: whether the response answers a request: it is then a hit, and the observer is told.
  ///   - mayUse: whether the caller accepts a stored response.
  package func stored(
    for request: HTTPRequest, partition: String = "", in forms: BodyForms = .decoded,
    isCounted: Bool = false, where mayUse: (StoredResponse) -> Bool = { _ in true }
  ) -> (response: CacheResponse, record: CacheRecord)? {
    engine.answers.storedOfAnyAge(
      for: request, partition: partition, in: forms, isCounted: isCounted, where: mayUse)
  }

  /// The number of bytes, from the first one on, that are stored of the response to a request. Waits, as `respond` does,
  /// for a transfer that its readers have left.
  ///
  /// - Parameters:
  ///   - request: for all of the response.
  ///   - partition: as in `RequestOptions.partition`.
  ///   - isSame: whether a stored head is that of the response.
  /// - Returns: `Int64.max` while another request receives a body for the target into the store.
  package func storedBytes(
    of request: HTTPRequest, partition: String = "", where isSame: (HTTPResponse) -> Bool
  ) async -> Int64 {
    guard let place = engine.lookup.storedPlace(of: request, in: partition) else { return 0 }
    let running = engine.shelf.running
    // A cancelled caller finds out with its next request.
    _ = try? await running.abandoned(place.key.target)?.ended(within: ExchangeRunner.keepingLimit)
    if running.contains(place.key.target) { return .max }
    let variants = (try? engine.lookup.stored(for: place.key, rules: place.rules)) ?? []
    return variants.map(\.record).filter { isSame($0.response.head) }
      .map { $0.part?.prefix ?? $0.bodyLength ?? 0 }.max() ?? 0
  }

  /// Stores a response that the caller fetched outside this cache and asks to store. If RFC 9111 §3 does not
  /// allow storing it, it is stored as invalidated: it answers no request before the origin has confirmed it.
  /// It is not stored if it must not be in a shared cache, or if an override or the cache's hook forbids it.
  ///
  /// - Parameters:
  ///   - partition: as in `RequestOptions.partition`.
  ///   - turn: where the hook runs.
  /// - Returns: why the response is not stored; nil if it is.
  @discardableResult
  package func adopt(
    _ adopted: AdoptedResponse, to request: HTTPRequest, partition: String = "", asking turn: HookTurn
  ) async -> StorageRefusal? {
    await Adoption(lookup: engine.lookup, shelf: engine.shelf)
      .store(adopted, to: request, partition: partition, asking: turn)
  }

  /// Removes everything stored in a partition for the target of a request, under each of its names.
  package func removeStored(for request: HTTPRequest, partition: String = "") async {
    guard let place = engine.lookup.storedPlace(of: request, in: partition) else { return }
    let names = engine.lookup.names(of: place.key, rules: place.rules)
    await engine.shelf.removeAll(of: place.key, storedUnder: names, because: .requested)
  }

  /// Invalidates what a request changed that did not go to the origin through this cache (RFC 9111 §4.4), and
  /// the groups that its response names (RFC 9875 §3).
  package func invalidate(after request: HTTPRequest, _ response: HTTPResponse) async {
    await engine.shelf.invalidate(Invalidation.targets(request: request, response: response))
    if let target = CacheKey.target(of: request) {
      await engine.shelf.invalidate(
        groups: CacheGroups.invalidated(request: request, response: response), of: target)
    }
  }

  /// Lets the next request complete an incomplete response although the last completion brought nothing. For a
  /// caller that knows that the connection broke, and that bounds its attempts.
  package func mayCompleteAgain(_ request: HTTPRequest) {
    guard let place = engine.lookup.storedPlace(of: request, in: "") else { return }
    engine.shelf.failedCompletions.remove(place.key)
  }

  /// Whether requests may be sent to origins.
  package var isOnline: Bool { engine.offlineReason == nil }

  /// Why the cache's offline state forbids a request outside the cache; nil if the request may be sent. Tells
  /// the observer.
  package func refusalWhileOffline(of request: HTTPRequest) -> UpstreamError? {
    engine.offlineReason.map { engine.notAsked(CacheKey.target(of: request) ?? "", $0) }
  }

  /// The unfinished work at this moment.
  package var unfinishedWork: UnfinishedWork {
    var work = UnfinishedWork()
    (work.flights, work.waiters) = engine.coalescing.counts
    work.transfers = engine.shelf.running.count
    work.backgroundTasks = engine.background.count + (engine.fleet?.background.count ?? 0)
    work.fetches = engine.fleet?.fetchCount ?? 0
    return work
  }
}

/// The amount of unfinished work of a cache, for tests that check that no work is left.
package struct UnfinishedWork: Sendable, Hashable {
  /// Keys for which a leader is asking the origin.
  package var flights = 0
  /// Followers that wait for a leader.
  package var waiters = 0
  /// Running transfers, counted once for each of their targets.
  package var transfers = 0
  /// Fetches that this node leads for all nodes of a fleet.
  package var fetches = 0
  /// Running background tasks.
  package var backgroundTasks = 0

  /// No unfinished work.
  package init() {}
}
