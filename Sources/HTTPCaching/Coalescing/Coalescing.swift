import HTTPCacheSemantics
import HTTPCacheStore
import Synchronization

/// Runs the coalescer: keeps the waiting followers, and wakes them outside its lock.
final class Coalescing: Sendable {
  private typealias Waiter = OneShot<CoalescerNews>

  private struct State {
    var coalescer = RequestCoalescer<Waiter>()
    var lastWaiter: UInt64 = 0
  }

  private let state = Mutex(State())
  private let clock: any CacheClock

  init(clock: any CacheClock) { self.clock = clock }

  /// - Parameters: as for `RequestCoalescer.join`.
  func join(
    _ key: CacheKey, ticket: InvalidationTicket,
    isOvertaken: (_ groups: [String]?, InvalidationTicket) -> Bool
  ) -> CoalescerNews {
    let uptime = clock.uptime
    let (role, released) = state.withLock {
      $0.coalescer.join(key, ticket: ticket, uptime: uptime, isOvertaken: isOvertaken)
    }
    for waiter in released { waiter.give(.joinAgain) }
    return switch role {
    case .lead(let flight): .lead(FlightHold(self, key: key, flight: flight))
    case .wait(let flight): .wait(flight: flight)
    case .share(let shared): .share(shared)
    case .goAlone: .goAlone
    }
  }

  /// The numbers of flights and of waiting followers.
  var counts: (flights: Int, waiters: Int) { state.withLock { $0.coalescer.counts } }

  /// The number of followers that wait for the leader of a key.
  func waiters(of key: CacheKey) -> Int { state.withLock { $0.coalescer.waiters(of: key) } }

  /// Waits for the leader's head.
  ///
  /// - Parameter limit: the longest time that this follower waits; nil for no limit.
  /// - Throws: `CancellationError` when the caller is cancelled.
  func news(
    of key: CacheKey, flight: UInt64, within limit: Duration?
  ) async throws -> CoalescerNews {
    let waiter = Waiter()
    let (number, known) = state.withLock { state in
      state.lastWaiter += 1
      return (
        state.lastWaiter, state.coalescer.wait(key, flight: flight, as: state.lastWaiter, waiter)
      )
    }
    if let known { waiter.give(known) }
    // A leader that fails must not pass the lead to a follower that waits no longer.
    let news = await waiter.take(within: limit, clock, otherwise: .timedOut) {
      _ = self.state.withLock { $0.coalescer.leave(key, flight: flight, waiter: number) }
    }
    // If this follower was told to lead, releasing its hold here passes the lead on.
    try Task.checkCancellation()
    return news
  }

  func share(_ key: CacheKey, flight: UInt64, _ shared: FlightTransfer) {
    let waiting = state.withLock { $0.coalescer.share(key, flight: flight, shared) }
    for waiter in waiting { waiter.give(.share(shared.withReader())) }
  }

  /// Ends a flight; its followers are told `news`.
  func end(
    _ key: CacheKey, flight: UInt64, isUnshareable: Bool = false, news: CoalescerNews
  ) {
    let uptime = clock.uptime
    let waiting = state.withLock {
      $0.coalescer.end(key, flight: flight, isUnshareable: isUnshareable, uptime: uptime)
    }
    for waiter in waiting { waiter.give(news) }
  }

  /// Ends the flights of keys that match; each follower asks the origin itself.
  func forget(where matches: (CacheKey) -> Bool) {
    let waiting = state.withLock { $0.coalescer.forget(where: matches) }
    for waiter in waiting { waiter.give(.goAlone) }
  }

  func leaderFailed(
    _ key: CacheKey, flight: UInt64, _ error: UpstreamError, isOwnLimit: Bool
  ) {
    let (successor, others) = state.withLock {
      $0.coalescer.leaderFailed(key, flight: flight, isOwnLimit: isOwnLimit)
    }
    successor?.give(.lead(FlightHold(self, key: key, flight: flight)))
    for waiter in others { waiter.give(.failed(error)) }
  }
}
