import HTTPCacheSemantics
import HTTPCacheStore
import Synchronization

/// The part of a cache in a fleet: the tier, what the node knows of its log, and the fetches that it leads for all nodes.
final class Fleet: Sendable {
  let tier: any SharedTier
  let options: FleetOptions
  let mode: CacheMode
  let clock: any CacheClock
  let observers: Observers
  let executor: (any TaskExecutor)?
  let log = FleetLog()
  let breaker = TierBreaker()
  /// The requests whose last response could not be shared: for a while, they do not ask the tier.
  let unshareable = Mutex(ExpiringSet<RequestSort>(lifetime: .seconds(60)))
  /// Publications, and unlocking.
  let background: BackgroundWork
  /// The file of the position in the log; nil for a cache whose entries are not in its directory. A position moved by
  /// such a cache would tell the next one that the entries there have seen changes which they have not.
  let positionPath: String?
  private let fetches = Mutex<[UInt64: WeakFetch]>([:])
  private let follower = Mutex<Task<Void, Never>?>(nil)

  private struct WeakFetch {
    weak var fetch: SharedFetch?
  }

  /// Publications beyond this number are dropped: their bodies need memory. Ends of locks do not.
  private static let publicationLimit = 64
  private static let backgroundLimit = 1_024

  /// Whether one more publication may begin.
  var hasPlaceToPublish: Bool { background.count < Self.publicationLimit }

  /// - Parameter usesDirectory: whether the store keeps its entries in the directory of the configuration.
  init(
    _ tier: any SharedTier, configuration: HTTPCache.Configuration, observers: Observers, usesDirectory: Bool
  ) {
    self.tier = tier
    self.observers = observers
    options = configuration.fleet
    mode = configuration.rules.mode
    clock = configuration.clock
    executor = configuration.executor
    background = BackgroundWork(limit: Self.backgroundLimit, executor: configuration.executor)
    positionPath =
      usesDirectory
      ? configuration.directory.flatMap { $0.isEmpty ? nil : "\($0)/\(SavedPosition.fileName)" } : nil
  }

  // MARK: What is shared

  /// Whether responses of a partition are shared.
  func shares(mode: CacheMode, partition: String) -> Bool {
    switch mode {
    case .shared: true
    case .private: options.privatePartitions.contains(partition)
    }
  }

  /// Whether a response may be published.
  func mayPublish(_ record: CacheRecord) -> Bool {
    record.isComplete && !record.isMemoryOnly && !record.isSeed
      && mayPublish(record.response, of: record.key, length: record.bodyLength)
  }

  /// Whether a whole response may be published.
  ///
  /// - Parameter length: of its body in bytes; nil if unknown.
  func mayPublish(_ response: StoredResponse, of key: CacheKey, length: Int64?) -> Bool {
    guard !response.isInvalidated, !response.isExpired, shares(mode: key.mode, partition: key.partition)
    else { return false }
    if isTooLarge(length) { return false }
    // No node could use it without asking the origin.
    let facts = response.facts
    if facts.freshnessLifetime <= Age.current(response, now: clock.now) { return false }
    if facts.directives.contains(.noCache) { return false }
    return tier.secret != nil
      || response.nominated.allSatisfy { if case .digest = $0.value { false } else { true } }
  }

  /// Whether the tier takes no body of this length in bytes; false if it is unknown.
  func isTooLarge(_ length: Int64?) -> Bool { length.map { $0 > tier.largestBody } ?? false }

  /// Whether a change of this node concerns other nodes.
  func concernsOthers(_ selection: CacheSelection) -> Bool {
    switch selection {
    case .variant, .storedBefore, .unusedSince: false
    case .partition(let mode, let name), .site(_, let mode, let name): shares(mode: mode, partition: name)
    case .key(let key): shares(mode: key.mode, partition: key.partition)
    case .all, .target, .prefix, .group, .storedSince: mode == .shared || !options.privatePartitions.isEmpty
    }
  }

  // MARK: Asking the tier

  /// Calls the tier, unless the breaker is open; tells the breaker and the observer of a failure.
  ///
  /// - Parameters:
  ///   - operation: what fails if the tier does, for the observer.
  ///   - isPastBreaker: whether the tier is called although the breaker is open.
  func ask<Answer: Sendable>(
    _ operation: String, isPastBreaker: Bool = false, _ body: () async throws(SharedTierError) -> Answer
  ) async throws(SharedTierError) -> Answer {
    guard
      let passage = isPastBreaker ? TierBreaker.Passage.ordinary : breaker.passage(uptime: clock.uptime)
    else {
      throw SharedTierError(.unreachable, "the tier did not answer, and is left alone for a moment")
    }
    do throws(SharedTierError) {
      let answer = try await body()
      breaker.succeeded(passage, uptime: clock.uptime)
      return answer
    } catch {
      // A task that was cancelled says nothing about the tier.
      if !Task.isCancelled { breaker.failed(error.kind, passage, uptime: clock.uptime) }
      observers.tell(.fleet(.failed(operation: operation, error)))
      throw error
    }
  }

  // MARK: Fetches

  /// Registers a fetch, so that the store finds it by the ticket of its request.
  func register(_ fetch: SharedFetch, for ticket: InvalidationTicket) {
    fetches.withLock { $0[ticket.moment] = WeakFetch(fetch: fetch) }
  }

  /// The fetch of a request; nil if there is none.
  func fetch(for ticket: InvalidationTicket?) -> SharedFetch? {
    guard let ticket else { return nil }
    return fetches.withLock { $0[ticket.moment]?.fetch }
  }

  /// The number of fetches that have not ended.
  var fetchCount: Int { fetches.withLock { $0.count } }

  func forget(moment: UInt64) { fetches.withLock { _ = $0.removeValue(forKey: moment) } }

  // MARK: Life

  /// Starts to follow the log.
  func start(_ shelf: Shelf) {
    let task = Task(executorPreference: executor) { [self] in
      await ChangeFollower(fleet: self, shelf: shelf).run()
    }
    follower.withLock { $0 = task }
  }

  /// Stops to follow the log.
  func stop() {
    follower.withLock { $0 }?.cancel()
  }

  /// Stops to follow the log, and leaves the fleet. Returns when the changes that were read are applied, and the position
  /// is written.
  func leave() async {
    let wasConnected = log.facts.isConnected
    let task = follower.withLock { $0 }
    task?.cancel()
    await task?.value
    // A tier that does not answer forgets the node after a while.
    if wasConnected { try? await tier.leave(nodeName: options.nodeName) }
  }

  /// Ends publications, and closes the tier.
  func close() async {
    background.cancel()
    await tier.close()
  }

  /// Writes the position into the directory.
  func savePosition() {
    guard let positionPath, let saved = log.saved else { return }
    _ = saved.write(to: positionPath)
  }

  /// Waits until the node has read all changes and uses the tier.
  ///
  /// - Returns: whether it does.
  func join(within limit: Duration) async -> Bool {
    let waiter = OneShot<Void>()
    log.whenConnected(waiter)
    await waiter.take(within: limit, clock, otherwise: ())
    log.forget(waiter)
    return log.facts.isConnected
  }

  var status: FleetStatus {
    let facts = log.facts
    return FleetStatus(
      nodeName: options.nodeName, isConnected: facts.isConnected,
      isPaused: breaker.isOpen(uptime: clock.uptime),
      position: facts.read.position, delay: facts.lastContact.map { max(.zero, clock.uptime - $0) },
      pendingChanges: facts.outbox.count)
  }
}

/// Stops to follow the log when the last cache that uses it is released.
final class FleetRun: Sendable {
  private let fleet: Fleet

  init(_ fleet: Fleet, shelf: Shelf) {
    self.fleet = fleet
    fleet.start(shelf)
  }

  deinit { fleet.stop() }
}

/// Whether a request asks the tier.
extension Fleet {
  /// The way to the origin for a request: by the tier, or the upstream alone for a request that does not ask the tier.
  ///
  /// - Parameter isBackground: whether the request validates a stored response after its use.
  func upstream(
    over origin: any Upstream, for conversation: Conversation, isBackground: Bool
  ) -> (any Upstream)? {
    let exchange = conversation.exchange
    guard obstacle(exchange, isBackground: isBackground) == nil else { return nil }
    return SharedUpstream(
      fleet: self, origin: origin,
      question: SharedQuestion(
        exchange: exchange, ticket: conversation.ticket, isLed: conversation.flight != nil))
  }

  /// Why a request does not ask the tier, in words; nil if it does.
  func obstacle(_ exchange: Exchange, isBackground: Bool) -> String? {
    // A shared cache decides for the partition of one user by the rules of a private one.
    guard shares(mode: exchange.rules.mode, partition: exchange.key.partition) else {
      return "this partition is not shared"
    }
    guard exchange.request.method == .get || exchange.request.method == .head, exchange.requestMiss == nil
    else {
      return "only GET and HEAD without content and preconditions are shared"
    }
    switch exchange.policy {
    case .standard, .cacheElseNetwork: break
    case .revalidate where isBackground: break
    case .revalidate, .reload, .reloadEverywhere, .bypass, .cacheOnly, .networkElseCache:
      return "the policy \(exchange.policy) asks the origin"
    }
    let directives = exchange.directives
    if directives.noStore || directives.noCache || directives.pragmaNoCache || directives.onlyIfCached
      || directives.maxAge == 0
    {
      return "the request demands the origin's answer, or forbids asking for it"
    }
    guard log.isUsable else {
      return "the tier is not connected, or changes of this node are not in its log yet"
    }
    let isUnshareable = unshareable.withLock { $0.contains(RequestSort(exchange), uptime: clock.uptime) }
    return isUnshareable ? "a response to it could not be shared within the last minute" : nil
  }
}
