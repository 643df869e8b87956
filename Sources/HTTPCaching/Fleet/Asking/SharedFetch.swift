import HTTPCacheSemantics
import HTTPCacheStore
import Synchronization

/// A fetch from the origin whose response this node publishes for all nodes. It holds the lock of its key, so that the
/// other nodes wait, and renews the lock while it waits for the origin.
///
/// If another node has told this one not to wait, the fetch publishes nothing. It only learns whether its own response
/// can be shared.
///
/// The lock ends exactly once: with the publication, with `release`, with `refuse`, or when the fetch is released.
final class SharedFetch: Sendable {
  /// The sort of the request.
  let sort: RequestSort
  /// The key of the request.
  var key: CacheKey { sort.key }
  /// The position in the log before the request was sent.
  let ticket: SharedPosition
  /// The responses that the tier had and no change had overtaken, for a 304 that confirms one of them.
  let found: [SharedVariant]
  /// Whether its response is published.
  private let isForAll: Bool
  private let token: String
  private let moment: UInt64
  private let fleet: Fleet
  private let state: Mutex<State>
  private let renewal = Mutex<Task<Void, Never>?>(nil)

  private struct State {
    /// Whether the lock is held.
    var isHeld: Bool
    /// Whether nothing has been decided about its response yet.
    var isOpen = true
    /// When the head arrived, by the clock's `uptime`.
    var head: Duration?
  }

  /// How long the lock holds without being renewed.
  static let duration = Duration.seconds(3)
  private static let renewalPause = Duration.seconds(1)
  /// How long a body may take while other nodes wait.
  private static let longestBody = Duration.seconds(1)
  /// How long other nodes do not wait for a response that cannot be shared.
  private static let refusal = Duration.seconds(2)

  /// - Parameters:
  ///   - token: of the lock; nil if there is no lock.
  ///   - request: the ticket that the local store gave to the request.
  ///   - isForAll: whether its response is published.
  init(
    _ sort: RequestSort, token: String?, ticket: SharedPosition, found: [SharedVariant],
    request: InvalidationTicket, isForAll: Bool, fleet: Fleet
  ) {
    self.sort = sort
    self.ticket = ticket
    self.found = found
    self.isForAll = isForAll
    self.token = token ?? ""
    self.fleet = fleet
    moment = request.moment
    state = Mutex(State(isHeld: token != nil))
    fleet.register(self, for: request)
    if token != nil { startRenewing() }
  }

  deinit {
    renewal.withLock { $0 }?.cancel()
    fleet.forget(moment: moment)
    if state.withLock({ $0.isHeld }) { fleet.unlock(key, token: token, refusingFor: nil) }
  }

  static func makeToken() -> String { String(UInt64.random(in: .min ... .max), radix: 36) }

  // MARK: Renewing

  private func startRenewing() {
    let task = Task(executorPreference: fleet.executor) { [weak self, clock = fleet.clock] in
      while true {
        do { try await clock.sleep(for: Self.renewalPause) } catch { return }
        guard let self, await self.renew() else { return }
      }
    }
    renewal.withLock { $0 = task }
  }

  /// - Returns: whether to go on.
  private func renew() async -> Bool {
    let uptime = fleet.clock.uptime
    let isSlow = state.withLock { state in
      state.isHeld && state.head.map { uptime - $0 >= Self.longestBody } ?? false
    }
    // The body arrives too slowly for others to wait for it; it is published nevertheless.
    if isSlow { endLock(refusingFor: Self.refusal) }
    guard state.withLock({ $0.isHeld }) else { return false }
    do throws(SharedTierError) {
      let isHeld = try await fleet.ask("renew a lock") { () async throws(SharedTierError) in
        try await fleet.tier.renew(key, token: token, duration: Self.duration)
      }
      if !isHeld { state.withLock { $0.isHeld = false } }
      return isHeld
    } catch { return true }
  }

  // MARK: Ending

  /// The head has arrived.
  func headArrived() {
    let uptime = fleet.clock.uptime
    state.withLock { $0.head = uptime }
  }

  /// The response is not published; another node may try at once.
  func release() {
    state.withLock { $0.isOpen = false }
    endLock(refusingFor: nil)
  }

  /// The response cannot be shared: other nodes do not wait for this key.
  ///
  /// - Parameter isLasting: whether this node does not ask the tier for such a request for a while.
  func refuse(isLasting: Bool = true) {
    let wasOpen = state.withLock { state in
      defer { state.isOpen = false }
      return state.isOpen
    }
    guard wasOpen else { return }
    if isLasting { fleet.unshareable.withLock { $0.insert(sort, uptime: fleet.clock.uptime) } }
    endLock(refusingFor: Self.refusal)
  }

  /// Whether a change has overtaken the response.
  func isOvertaken(_ record: CacheRecord) -> Bool {
    fleet.log.isOvertaken(record, requestTarget: key.target, since: ticket)
  }

  /// Whether the response may be published.
  var isOpen: Bool { isForAll && state.withLock { $0.isOpen } }

  /// The token of the lock, which the caller frees by publishing; nil if the lock is no longer held.
  func takeLock() -> String? {
    let wasHeld = state.withLock { state in
      defer { state.isHeld = false }
      return state.isHeld
    }
    renewal.withLock { $0 }?.cancel()
    return wasHeld ? token : nil
  }

  private func endLock(refusingFor refusal: Duration?) {
    guard takeLock() != nil else { return }
    fleet.unlock(key, token: token, refusingFor: refusal)
  }
}

extension Fleet {
  /// Ends a lock in the background.
  func unlock(_ key: CacheKey, token: String, refusingFor refusal: Duration?) {
    background.begin { [self] in
      do throws(SharedTierError) {
        try await ask("end a lock") { () async throws(SharedTierError) in
          try await tier.unlock(key, token: token, refusingFor: refusal)
        }
      } catch {
        // The lock expires.
      }
    }
  }
}
