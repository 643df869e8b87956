import HTTPCacheSemantics
import HTTPCacheStore
import Synchronization

/// A leader's duty to report its result to its followers exactly once.
///
/// The first report counts; later ones do nothing. A hold that is released without a report, because its leader was
/// cancelled or threw, passes the lead to a follower. So no exit from a function leaves followers waiting.
final class FlightHold: Sendable {
  private let coalescing: Coalescing
  private let key: CacheKey
  private let flight: Mutex<UInt64?>

  init(_ coalescing: Coalescing, key: CacheKey, flight: UInt64) {
    self.coalescing = coalescing
    self.key = key
    self.flight = Mutex(flight)
  }

  deinit {
    failed(UpstreamError(.cancelled, "the request for the origin ended without an answer"), isOwnLimit: true)
  }

  /// The response is for the leader alone: each follower asks the origin itself.
  ///
  /// - Parameter isUnshareable: whether later requests do not wait for one another for a while.
  func release(isUnshareable: Bool = false) { end(isUnshareable: isUnshareable, news: .goAlone) }

  /// The origin failed with a 5xx status, and a stale response is used instead.
  func serverError(_ status: Int) { end(news: .serverError(status)) }

  /// The store has changed: a stored response was freshened, or the transfer has ended.
  func lookAgain() { end(news: .lookAgain) }

  /// No head arrived.
  ///
  /// - Parameter isOwnLimit: whether the leader was cancelled or ran out of its own time, which says nothing
  ///   about the origin.
  func failed(_ error: UpstreamError, isOwnLimit: Bool) {
    guard let flight = flight.withLock({ $0.take() }) else { return }
    coalescing.leaderFailed(key, flight: flight, error, isOwnLimit: isOwnLimit)
  }

  /// The response is being stored: followers read along. The hold stays unspent until the transfer ends.
  func share(_ shared: FlightTransfer) {
    guard let flight = flight.withLock({ $0 }) else { return }
    coalescing.share(key, flight: flight, shared)
  }

  private func end(isUnshareable: Bool = false, news: CoalescerNews) {
    guard let flight = flight.withLock({ $0.take() }) else { return }
    coalescing.end(key, flight: flight, isUnshareable: isUnshareable, news: news)
  }
}
