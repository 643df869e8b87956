import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes
import Synchronization

/// The parts of a cache, behind its public face: `Lookup` reads the store, `AnswerMaker` answers from it, `Shelf`
/// changes it, and an `ExchangeRunner` drives one request through them.
final class Engine: Sendable {
  let configuration: HTTPCache.Configuration
  let observers: Observers
  let coalescing: Coalescing
  let background: BackgroundWork
  let shelf: Shelf
  let names: StoredNames
  let lookup: Lookup
  let answers: AnswerMaker
  let files: HandedOutFiles
  /// The part of the cache in a fleet; nil if it is alone.
  let fleet: Fleet?
  private let fleetRun: FleetRun?
  private let offlineSwitch: OfflineSwitch

  /// - Parameter usesDirectory: whether the store keeps its entries in the directory of the configuration.
  init(configuration: HTTPCache.Configuration, store: any CacheStore, usesDirectory: Bool) {
    self.configuration = configuration
    let observers = Observers(observer: configuration.observer)
    self.observers = observers
    coalescing = Coalescing(clock: configuration.clock)
    background = BackgroundWork(limit: 64, executor: configuration.executor)
    let fleet = configuration.shared.map {
      Fleet($0, configuration: configuration, observers: observers, usesDirectory: usesDirectory)
    }
    self.fleet = fleet
    let shelf = Shelf(
      store, configuration: configuration, observers: observers, coalescing: coalescing, fleet: fleet)
    self.shelf = shelf
    names = StoredNames(shelf: shelf, background: background)
    lookup = Lookup(shelf: shelf, names: names)
    answers = AnswerMaker(lookup: lookup)
    files = HandedOutFiles(directory: configuration.directory, observers: observers)
    offlineSwitch = OfflineSwitch()
    fleetRun = fleet.map { FleetRun($0, shelf: shelf) }
  }

  /// An engine over the same store with other rules: what one of the two changes reaches the running requests of both.
  init(sharing other: Engine, rules: CacheRules) {
    var configuration = other.configuration
    configuration.rules = rules
    self.configuration = configuration
    observers = other.observers
    coalescing = other.coalescing
    background = other.background
    shelf = Shelf(sharing: other.shelf, configuration: configuration)
    names = StoredNames(shelf: shelf, background: background)
    lookup = Lookup(shelf: shelf, names: names)
    answers = AnswerMaker(lookup: lookup)
    files = other.files
    offlineSwitch = other.offlineSwitch
    fleet = other.fleet
    fleetRun = other.fleetRun
  }

  var clock: any CacheClock { configuration.clock }

  /// Decides for a request that needs the origin: lead, wait for the leader, or share its answer.
  func join(_ key: CacheKey) -> CoalescerNews {
    coalescing.join(key, ticket: shelf.store.ticket()) { [shelf] groups, ticket in
      shelf.store.isOvertaken(key, groups: groups, since: ticket)
    }
  }

  /// As `HTTPCache.peek(_:options:where:)`, for a request with a known key.
  func peek(
    _ request: HTTPRequest, at place: Lookup.Place, options: RequestOptions,
    where mayUse: (HTTPResponse) -> Bool = { _ in true }
  ) -> CacheResponse? {
    guard shelf.failedChanges.isEmpty, !options.isPrivate(under: configuration.rules) else { return nil }
    return answers.peek(request, at: place, bodyForms: options.bodyForms, where: mayUse)
  }

  // MARK: Offline

  var isOffline: Bool {
    get { offlineSwitch.isOn.load(ordering: .relaxed) }
    set { offlineSwitch.isOn.store(newValue, ordering: .relaxed) }
  }

  /// Why no origin may be asked now; nil if it may.
  var offlineReason: OfflineReason? {
    if isOffline { return .forced }
    guard let connectivity = configuration.connectivity, !connectivity.isConnected else { return nil }
    return .notConnected
  }

  /// Tells the observer that an origin was not asked.
  ///
  /// - Returns: the error of the request.
  func notAsked(_ target: String, _ reason: OfflineReason) -> UpstreamError {
    observers.tell(.notAsked(target: target, reason))
    return UpstreamError(.unreachable, reason.description, cause: reason)
  }
}

private final class OfflineSwitch: Sendable {
  let isOn = Atomic<Bool>(false)
}
