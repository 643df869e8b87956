/// One member of `Cache-Status`: how a cache handled a request (RFC 9211 §2).
package struct CacheStatus: Sendable, Hashable {
  /// Why a request went forward (§2.2).
  package enum Forward: String, Sendable, Hashable, CaseIterable {
    /// The cache was told not to handle the request.
    case bypass
    /// The method requires it.
    case method
    /// Nothing is stored for the URI.
    case uriMiss = "uri-miss"
    /// Responses are stored for the URI, but for other values of this request's fields.
    case varyMiss = "vary-miss"
    /// Nothing usable is stored.
    case miss
    /// A fresh response is stored, but the request does not allow its use.
    case request
    /// The stored response was stale.
    case stale
    /// The stored response is only a part of what the request asks for.
    case partial
  }

  /// The name of the cache.
  package var name: String
  /// Whether the answer came from the store without going forward (§2.1).
  package var hit: Bool
  /// Why the request went forward (§2.2).
  package var fwd: Forward?
  /// The status of the next hop's answer (§2.3).
  package var fwdStatus: Int?
  /// The remaining lifetime in seconds, negative for a stale response (§2.4).
  package var ttl: Int64?
  /// Whether the response was stored (§2.5).
  package var stored: Bool?
  /// Whether the request was collapsed with others, and used their response (§2.6).
  package var collapsed: Bool?
  /// The cache key (§2.7).
  package var key: String?
  /// Further details (§2.8).
  package var detail: String?

  /// Makes a member.
  package init(
    name: String, hit: Bool = false, fwd: Forward? = nil, fwdStatus: Int? = nil,
    ttl: Int64? = nil, stored: Bool? = nil, collapsed: Bool? = nil, key: String? = nil,
    detail: String? = nil
  ) {
    self.name = name
    self.hit = hit
    self.fwd = fwd
    self.fwdStatus = fwdStatus
    self.ttl = ttl
    self.stored = stored
    self.collapsed = collapsed
    self.key = key
    self.detail = detail
  }
}
