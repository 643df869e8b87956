/// Whether a cache serves one user or many (RFC 9111 §1).
public enum CacheMode: UInt8, Sendable, Hashable, CaseIterable {
  /// Dedicated to one user: may store responses marked `private`, ignores `s-maxage`.
  case `private` = 0
  /// Serves many users: obeys `private`, `s-maxage`, `proxy-revalidate` and §3.5.
  case shared = 1
}
