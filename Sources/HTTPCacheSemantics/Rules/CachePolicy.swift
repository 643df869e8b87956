/// How one request wants to use the cache.
///
/// The cases correspond to `URLRequest.CachePolicy` and to the cache modes of the Fetch standard.
///
/// No policy uses a response stale that forbids it (`must-revalidate`; in a shared cache
/// `proxy-revalidate` and `s-maxage`; RFC 9111 §4.2.4), nor without the origin's confirmation one that
/// says `no-cache` or was invalidated (§5.2.2.4, §4.4), nor any for a request with `no-cache`
/// (§5.2.1.4). The request's `no-store` keeps its answer out of the store (§5.2.1.5); what is stored
/// may answer it.
public enum CachePolicy: Sendable, Hashable {
  /// As RFC 9111 says. Fetch: `default`.
  case standard
  /// Ignores what is stored, asks the origin without a condition, and updates the store.
  case reload
  /// As `reload`, and tells the caches on the way to do the same (`no-cache`, `Pragma`). Fetch:
  /// `reload`.
  case reloadEverywhere
  /// Uses what is stored only if the origin confirms it. Fetch: `no-cache`. A response that is
  /// `immutable` and fresh is used without (RFC 8246 §2).
  case revalidate
  /// Uses what is stored whatever its age; asks the origin on a miss, and about what must not be used
  /// without it. The request's `max-age`, `min-fresh` and `max-stale` do not count. Fetch:
  /// `force-cache`.
  case cacheElseNetwork
  /// Uses what is stored whatever its age; never asks the origin. A miss, and what must not be used
  /// without the origin, is an error: a response with the status 504 and the outcome `unsatisfiable`,
  /// which a door may throw. The request's `max-age`, `min-fresh` and `max-stale` do not count. Fetch:
  /// `only-if-cached`.
  case cacheOnly
  /// Neither reads nor writes the store, whatever the request says: it goes to the origin even with
  /// `only-if-cached`, which is then for the caches on the way. An unsafe method invalidates all the
  /// same (RFC 9111 §4.4). Fetch: `no-store`.
  case bypass
  /// Asks the origin first, with a condition if something is stored; falls back to what is stored,
  /// fresh or stale, if the origin cannot be reached or does not answer in time. An answer that breaks
  /// the protocol and a certificate that does not hold are no such failures; `stale-if-error` may allow
  /// a stale response for them (RFC 5861 §4).
  ///
  /// - Parameters:
  ///   - maxStale: how many seconds past its lifetime a response may be; nil is without limit.
  ///   - onStatus: status codes of answers that count as unreachable too, such as 502 and 503.
  case networkElseCache(maxStale: Int64? = nil, onStatus: Set<Int> = [])
}
