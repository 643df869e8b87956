public import HTTPCacheSemantics
public import HTTPCacheStore
public import HTTPCaching

/// The server behind `LoopbackTier`s, in memory: responses, locks, and the log of changes. It fails as real ones do: it
/// forgets what was not copied to a replica yet, restarts empty, evicts, refuses.
public final class LoopbackServer: Sendable {
  struct Lock: Sendable {
    /// nil tells other nodes not to wait.
    let token: String?
    let ticket: SharedPosition
    let end: Duration
  }

  struct Kept: Sendable {
    var variant: SharedVariant
    let end: Duration
  }

  /// The contents of a server, and of its replica.
  struct Contents: Sendable {
    var responses: [CacheKey: [Kept]] = [:]
    var bodies: [UInt64: [Int: [UInt8]]] = [:]
    var locks: [CacheKey: Lock] = [:]
    var log: [SharedLogEntry] = []
    var isCut = false
    var scopes: [Int: SharedPosition] = [:]
    var nonce: String?
    var nodes: [String: SharedNode] = [:]
    var last = SharedPosition.start

    /// The position that the next one must be above: a clock that was set back gives none below that of the random word.
    var highest: SharedPosition { max(last, scopes[0] ?? .start) }
  }

  struct State: Sendable {
    var contents = Contents()
    var replica = Contents()
    /// Rises with each server that takes the place of another one.
    var generation = 0
    var refusal: SharedTierError?
    /// Milliseconds that the clock of the server is ahead.
    var ahead: Int64 = 0
    var nonces = 0
    var calls: [String: Int] = [:]
  }

  static let variantLimit = 8

  let state = WatchedState(State())
  let clock: any CacheClock
  let logLimit: Int
  private let start: Int64
  private let startUptime: Duration

  /// Makes an empty server.
  ///
  /// - Parameters:
  ///   - clock: moves the clock of the server, which begins at its wall time and does not follow its jumps.
  ///   - logLimit: the number of changes beyond which the log is cut at its beginning.
  public init(clock: any CacheClock, logLimit: Int = 10_000) {
    self.clock = clock
    self.logLimit = logLimit
    start = clock.now.seconds.multipliedReportingOverflow(by: 1_000).partialValue
    startUptime = clock.uptime
  }

  /// The time of the server in milliseconds since 1970.
  func time(_ state: State) -> Int64 {
    let passed = (clock.uptime - startUptime).components
    return start + passed.seconds * 1_000 + passed.attoseconds / 1_000_000_000_000_000 + state.ahead
  }

  // MARK: Facts

  /// The number of calls of a function, such as `find`, by all tiers.
  public func calls(_ name: String) -> Int { state.withLock { $0.calls[name] ?? 0 } }

  /// The changes in the log.
  public var log: [SharedLogEntry] { state.withLock { $0.contents.log } }

  /// The variants of a key.
  public func variants(_ key: CacheKey) -> [SharedVariant] {
    state.withLock { $0.contents.responses[key]?.map(\.variant) ?? [] }
  }

  /// Whether the lock of a key is held, or tells nodes not to wait.
  public func isLocked(_ key: CacheKey) -> Bool {
    let uptime = clock.uptime
    return state.withLock { state in state.contents.locks[key].map { $0.end > uptime } ?? false }
  }

  /// Waits until a condition on the number of calls of a function holds.
  public func waitForCalls(_ name: String, _ count: Int) async {
    await state.wait { $0.calls[name] ?? 0 >= count }
  }

  /// Waits until the node with a name has applied the whole log.
  public func waitUntilApplied(by name: String) async {
    await state.wait { state in
      state.contents.nodes[name].map { $0.applied >= state.contents.log.last?.position ?? .start } ?? false
    }
  }

  /// Waits until the log has a number of changes.
  public func waitForLog(_ count: Int) async { await state.wait { $0.contents.log.count >= count } }

  /// Waits until the lock of a key tells nodes not to wait.
  package func waitForRefusal(_ key: CacheKey) async {
    await state.wait { state in state.contents.locks[key].map { $0.token == nil } ?? false }
  }

  // MARK: Faults

  /// Copies everything to the replica.
  public func replicate() { state.withLock { $0.replica = $0.contents } }

  /// The replica takes the place of the server: what was not copied is lost, and connections break.
  public func failOver() {
    state.withLock { state in
      state.contents = state.replica
      state.generation += 1
    }
  }

  /// Loses everything; connections stay.
  public func flush() {
    state.withLock { $0.contents = Contents() }
  }

  /// Loses the positions of scopes and the random word; the responses stay.
  ///
  /// - Parameter losesLog: whether the log is lost, too, as with a server of a cluster that has no responses.
  public func loseTable(losesLog: Bool = false) {
    state.withLock { state in
      (state.contents.scopes, state.contents.nonce) = ([:], nil)
      if losesLog { (state.contents.log, state.contents.last) = ([], .start) }
    }
  }

  /// Evicts the responses of a key.
  public func evict(_ key: CacheKey) { state.withLock { _ = $0.contents.responses.removeValue(forKey: key) } }

  /// Evicts the responses that a selection includes.
  public func evict(_ selection: CacheSelection) {
    state.withLock { state in
      state.contents.responses = state.contents.responses.mapValues { kept in
        kept.filter {
          !selection.matches($0.variant.record, lastUsed: $0.variant.record.response.responseTime)
        }
      }
    }
  }

  /// Evicts all bodies in parts.
  public func evictBodies() { state.withLock { $0.contents.bodies = [:] } }

  /// Adds an entry that no node can read, as a newer version may do.
  public func addUnreadableChange() {
    state.withLock { state in
      let last = state.contents.highest
      state.contents.last = SharedPosition(time: last.time, number: last.number + 1)
      state.contents.log.append(SharedLogEntry(position: state.contents.last, change: nil))
      state.contents.scopes[0] = state.contents.last
    }
  }

  /// Answers each call with an error; nil ends that.
  public func refuse(_ error: SharedTierError?) { state.withLock { $0.refusal = error } }

  /// Sets the clock of the server forward, or back.
  public func shiftClock(by milliseconds: Int64) { state.withLock { $0.ahead += milliseconds } }
}
