/// How one request uses the cache.
///
/// The cases correspond to `URLRequest.CachePolicy` and to the cache modes of the Fetch standard.
///
/// No policy uses a stale response that forbids it (`must-revalidate`; in a shared cache `proxy-revalidate`
/// and `s-maxage`; RFC 9111 §4.2.4). No policy uses, without the origin's confirmation, a response that says
/// `no-cache` or was invalidated (§5.2.2.4, §4.4), or any response for a request with `no-cache` (§5.2.1.4).
/// The request's `no-store` keeps its answer out of the store (§5.2.1.5); a stored response may still answer
/// it.
public enum CachePolicy: Sendable, Hashable {
  /// As RFC 9111 says. Fetch: `default`.
  case standard
  /// Ignores stored responses, asks the origin without a condition, and updates the store.
  case reload
  /// Like `reload`, and tells caches on the way to do so, too (`no-cache`, `Pragma`). Fetch: `reload`.
  case reloadEverywhere
  /// Uses a stored response only if the origin confirms it. Fetch: `no-cache`. A response that is `immutable`
  /// and fresh needs no confirmation (RFC 8246 §2).
  case revalidate
  /// Uses a stored response whatever its age. Asks the origin on a miss, and for a response that must not be
  /// used without the origin. The request's `max-age`, `min-fresh` and `max-stale` are ignored. Fetch:
  /// `force-cache`.
  case cacheElseNetwork
  /// Uses a stored response whatever its age; never asks the origin. A miss, and a response that must not be
  /// used without the origin, is an error: a response with the status 504 and the outcome `unsatisfiable`,
  /// which a door may throw. The request's `max-age`, `min-fresh` and `max-stale` are ignored. Fetch:
  /// `only-if-cached`.
  case cacheOnly
  /// Neither reads nor writes the store: the request goes to the origin even with `only-if-cached`, which
  /// then applies to caches on the way. An unsafe method still invalidates (RFC 9111 §4.4). Fetch:
  /// `no-store`.
  case bypass
  /// Asks the origin first, with a condition if a response is stored. Falls back to the stored response,
  /// fresh or stale, if the origin cannot be reached or does not answer in time. A broken protocol and an
  /// invalid certificate do not count as unreachable; `stale-if-error` may allow a stale response for them
  /// (RFC 5861 §4).
  ///
  /// - Parameters:
  ///   - maxStale: how long a response may be past its lifetime; nil is without limit.
  ///   - onStatus: status codes that also count as unreachable, such as 502 and 503.
  case networkElseCache(maxStale: Duration? = nil, onStatus: Set<Int> = [])
}

extension CachePolicy {
  /// Whether an answer with this status counts as if the origin could not be reached.
  public func countsAsFailure(_ status: Int) -> Bool {
    if case .networkElseCache(_, let onStatus) = self { onStatus.contains(status) } else { false }
  }

  /// Whether a request with this policy may wait for the transfer of another request, and lead one. A running
  /// transfer comes from the network, as `.networkElseCache` asks for.
  package var mayShareTransfers: Bool {
    switch self {
    case .standard, .cacheElseNetwork, .networkElseCache: true
    case .reload, .reloadEverywhere, .revalidate, .cacheOnly, .bypass: false
    }
  }

  /// Its name without parameters, for lines that people read, as the options of `httpcache` spell it.
  public var name: String {
    switch self {
    case .standard: "standard"
    case .reload: "reload"
    case .reloadEverywhere: "reload-everywhere"
    case .revalidate: "revalidate"
    case .cacheElseNetwork: "cache-else-network"
    case .cacheOnly: "cache-only"
    case .bypass: "bypass"
    case .networkElseCache: "network-else-cache"
    }
  }
}
