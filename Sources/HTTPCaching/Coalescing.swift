import HTTPCacheSemantics
import HTTPCacheStore
import Synchronization

/// Runs the coalescer: holds who waits, and wakes them outside its lock.
final class Coalescing: Sendable {
  private typealias Waiter = CheckedContinuation<CoalescerNews, Never>

  private struct State {
    var coalescer = RequestCoalescer<Waiter>()
    var lastWaiter: UInt64 = 0
  }

  private let state = Mutex(State())

  /// - Parameters: as for `RequestCoalescer.join`.
  func join(
    _ key: CacheKey, ticket: InvalidationTicket, uptime: Duration,
    isOvertaken: (_ groups: [String], InvalidationTicket) -> Bool
  ) -> CoalescerRole {
    let (role, released) = state.withLock {
      $0.coalescer.join(key, ticket: ticket, uptime: uptime, isOvertaken: isOvertaken)
    }
    for waiter in released { waiter.resume(returning: .joinAgain) }
    return role
  }

  /// The numbers of flights and of requests that wait for one.
  var counts: (flights: Int, waiters: Int) { state.withLock { $0.coalescer.counts } }

  /// Waits for the leader's head.
  ///
  /// - Throws: `CancellationError` when the caller gives up.
  func news(of key: CacheKey, flight: UInt64) async throws -> CoalescerNews {
    let waiter = state.withLock { state in
      state.lastWaiter += 1
      return state.lastWaiter
    }
    let news = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let news: CoalescerNews? = state.withLock { state in
          if Task.isCancelled { return .goAlone }
          return state.coalescer.wait(key, flight: flight, as: waiter, continuation)
        }
        if let news { continuation.resume(returning: news) }
      }
    } onCancel: {
      let waiting = state.withLock { $0.coalescer.leave(key, flight: flight, waiter: waiter) }
      waiting?.resume(returning: .goAlone)
    }
    if Task.isCancelled {
      // Whoever was told to lead and left passes the lead on.
      if case .lead = news { leaderFailed(key, flight: flight, UpstreamError(.cancelled, "the caller left")) }
      throw CancellationError()
    }
    return news
  }

  func share(_ key: CacheKey, flight: UInt64, _ shared: SharedTransfer) {
    let waiting = state.withLock { $0.coalescer.share(key, flight: flight, shared) }
    for waiter in waiting { waiter.resume(returning: .share(shared)) }
  }

  /// The flight is over; its waiters are told `news`.
  func end(
    _ key: CacheKey, flight: UInt64, isUnshareable: Bool = false, uptime: Duration,
    news: CoalescerNews
  ) {
    let waiting = state.withLock {
      $0.coalescer.end(key, flight: flight, isUnshareable: isUnshareable, uptime: uptime)
    }
    for waiter in waiting { waiter.resume(returning: news) }
  }

  /// Nobody waits any longer for answers that were asked for before a change of the target.
  func forget(_ target: String) {
    forget { $0.target == target }
  }

  /// The same for all keys that match.
  func forget(where matches: (CacheKey) -> Bool) {
    let waiting = state.withLock { $0.coalescer.forget(where: matches) }
    for waiter in waiting { waiter.resume(returning: .goAlone) }
  }

  func leaderFailed(_ key: CacheKey, flight: UInt64, _ error: UpstreamError) {
    let (successor, others) = state.withLock {
      $0.coalescer.leaderFailed(key, flight: flight, wasCancelled: error.kind == .cancelled)
    }
    successor?.resume(returning: .lead(flight: flight))
    for waiter in others { waiter.resume(returning: .failed(error)) }
  }
}
