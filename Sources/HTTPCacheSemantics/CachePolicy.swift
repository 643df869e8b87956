/// How one request wants to use the cache.
///
/// The cases correspond to `URLRequest.CachePolicy` and to the cache modes of the Fetch standard.
public enum CachePolicy: Sendable, Hashable {
  /// As RFC 9111 says.
  case standard
  /// Ignores what is stored, asks the origin, and updates the store.
  case reload
  /// As `reload`, and tells the caches on the way to do the same (`no-cache`, `Pragma`).
  case reloadEverywhere
  /// Uses what is stored only if the origin confirms it.
  case revalidate
  /// Uses what is stored whatever its age; asks the origin on a miss.
  case cacheElseNetwork
  /// Uses what is stored whatever its age; never asks the origin. A miss is an error.
  case cacheOnly
  /// Neither reads nor writes the store, whatever the request says: it goes to the origin even with
  /// `only-if-cached`, which is then for the caches on the way.
  case bypass
  /// Asks the origin first; falls back to what is stored if the origin cannot be reached or does not
  /// answer in time. An answer that breaks the protocol and a certificate that does not hold are no
  /// such failures.
  ///
  /// - Parameters:
  ///   - maxStale: how many seconds past its lifetime a response may be; nil is without limit.
  ///   - onStatus: status codes of answers that count as unreachable too, such as 502 and 503.
  case networkElseCache(maxStale: Int64? = nil, onStatus: Set<Int> = [])
}
