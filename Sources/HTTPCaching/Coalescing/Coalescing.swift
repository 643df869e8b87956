import HTTPCacheSemantics
import HTTPCacheStore
import Synchronization

/// Runs the coalescer: keeps the waiting followers, and wakes them outside its lock.
final class Coalescing: Sendable {
  private typealias Waiter = CheckedContinuation<CoalescerNews, Never>

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
  ) -> CoalescingTurn {
    let uptime = clock.uptime
    let (role, released) = state.withLock {
      $0.coalescer.join(key, ticket: ticket, uptime: uptime, isOvertaken: isOvertaken)
    }
    for waiter in released { waiter.resume(returning: .joinAgain) }
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
    let waiter = state.withLock { state in
      state.lastWaiter += 1
      return state.lastWaiter
    }
    let news: CoalescerNews = await clock.limit(limit) {
      self.leave(key, flight: flight, waiter: waiter, news: .timedOut)
    } _: { mark in
      await wait(for: key, flight: flight, as: waiter, until: mark)
    }
    // If this follower was told to lead, releasing its hold here passes the lead on.
    try Task.checkCancellation()
    return news
  }

  private func wait(
    for key: CacheKey, flight: UInt64, as waiter: UInt64, until limit: LimitMark
  ) async -> CoalescerNews {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let news: CoalescerNews? = state.withLock { state in
          if Task.isCancelled { return .goAlone }
          if limit.hasPassed { return .timedOut }
          return state.coalescer.wait(key, flight: flight, as: waiter, continuation)
        }
        if let news { continuation.resume(returning: news) }
      }
    } onCancel: {
      leave(key, flight: flight, waiter: waiter, news: .goAlone)
    }
  }

  private func leave(_ key: CacheKey, flight: UInt64, waiter: UInt64, news: CoalescerNews) {
    let waiting = state.withLock { $0.coalescer.leave(key, flight: flight, waiter: waiter) }
    waiting?.resume(returning: news)
  }

  func share(_ key: CacheKey, flight: UInt64, _ shared: SharedTransfer) {
    let waiting = state.withLock { $0.coalescer.share(key, flight: flight, shared) }
    for waiter in waiting { waiter.resume(returning: .share(shared.withReader())) }
  }

  /// Ends a flight; its followers are told `news`.
  func end(
    _ key: CacheKey, flight: UInt64, isUnshareable: Bool = false, news: CoalescerNews
  ) {
    let uptime = clock.uptime
    let waiting = state.withLock {
      $0.coalescer.end(key, flight: flight, isUnshareable: isUnshareable, uptime: uptime)
    }
    for waiter in waiting { waiter.resume(returning: news) }
  }

  /// Ends the flights of keys that match; each follower asks the origin itself.
  func forget(where matches: (CacheKey) -> Bool) {
    let waiting = state.withLock { $0.coalescer.forget(where: matches) }
    for waiter in waiting { waiter.resume(returning: .goAlone) }
  }

  func leaderFailed(
    _ key: CacheKey, flight: UInt64, _ error: UpstreamError, isOwnLimit: Bool
  ) {
    let (successor, others) = state.withLock {
      $0.coalescer.leaderFailed(key, flight: flight, isOwnLimit: isOwnLimit)
    }
    successor?.resume(returning: .lead(FlightHold(self, key: key, flight: flight)))
    for waiter in others { waiter.resume(returning: .failed(error)) }
  }
}
