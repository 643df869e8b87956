import HTTPCacheSemantics

/// A leader's duty to those who wait for it: told exactly once how it went.
struct FlightHold: Sendable {
  private let cache: HTTPCache
  private let key: CacheKey
  private var flight: UInt64?

  init(cache: HTTPCache, key: CacheKey, flight: UInt64?) {
    self.cache = cache
    self.key = key
    self.flight = flight
  }

  /// The response is nobody else's.
  mutating func release(isUnshareable: Bool = false) {
    end(isUnshareable: isUnshareable, news: .goAlone)
  }

  /// The origin has failed with a 5xx status that a stale response stands in for.
  mutating func serverError(_ status: Int) {
    end(isUnshareable: false, news: .serverError(status))
  }

  /// What is stored was freshened.
  mutating func lookAgain() { end(isUnshareable: false, news: .lookAgain) }

  /// No head came.
  mutating func failed(_ error: UpstreamError) {
    guard let flight = flight.take() else { return }
    cache.coalescing.leaderFailed(key, flight: flight, error)
  }

  /// Hands the duty to a transfer.
  mutating func hand() -> Handed? { flight.take().map { Handed(key: key, flight: $0) } }

  private mutating func end(isUnshareable: Bool, news: CoalescerNews) {
    guard let flight = flight.take() else { return }
    cache.coalescing.end(
      key, flight: flight, isUnshareable: isUnshareable,
      uptime: cache.configuration.clock.uptime, news: news)
  }

  /// The duty while a transfer runs.
  struct Handed: Sendable {
    let key: CacheKey
    let flight: UInt64

    func share(_ cache: HTTPCache, _ shared: SharedTransfer) {
      cache.coalescing.share(key, flight: flight, shared)
    }

    func end(_ cache: HTTPCache) {
      cache.coalescing.end(
        key, flight: flight, uptime: cache.configuration.clock.uptime, news: .lookAgain)
    }
  }
}
