/// Why a stored response cannot replace the answer of an origin that failed.
#if hasAttribute(nonexhaustive)
  @nonexhaustive
#endif
public enum FallbackRefusal: Reason, Hashable {
  /// The request's policy forbids using the store.
  case policy(CachePolicy)
  /// The store cannot answer this request (§4).
  case miss(MissReason)
  /// It answered an authorized request and must not be shared (§3.5).
  case authorized
  /// It sets a cookie that this shared cache does not keep (§7.3).
  case setCookie
  /// It was invalidated, by an unsafe request or on demand: validation is mandatory (§4.4).
  case invalidated
  /// The response said `no-cache` (§5.2.2.4).
  case responseNoCache
  /// The request said `no-cache`, or `Pragma: no-cache` (§5.2.1.4).
  case requestNoCache
  /// The request's `max-age` or `min-fresh` excludes a stale response (§5.2.1.1).
  case requestFreshness
  /// The response said `must-revalidate` (§5.2.2.2).
  case mustRevalidate
  /// The response said `proxy-revalidate` and the cache is shared (§5.2.2.8).
  case proxyRevalidate
  /// The response has `s-maxage` and the cache is shared (§5.2.2.10).
  case sMaxAge
  /// It is stale for longer than allowed.
  case tooStale(Duration, limit: Duration)
  /// No rule allows replacing an answer with this status by a stale response (RFC 5861 §4).
  case serverError(Int)
  /// A setting of the cache forbids it.
  case rules

  /// A few words for people.
  public var description: String {
    switch self {
    case .policy(let policy): "policy \(policy.name)"
    case .miss(let reason): reason.description
    case .authorized: "the stored response must not be shared"
    case .setCookie: "Set-Cookie in a shared cache"
    case .invalidated: "invalidated"
    case .responseNoCache: "no-cache in the response"
    case .requestNoCache: "no-cache in the request"
    case .requestFreshness: "the request asks for no stale response"
    case .mustRevalidate: "must-revalidate"
    case .proxyRevalidate: "proxy-revalidate"
    case .sMaxAge: "s-maxage"
    case .tooStale(let staleness, let limit):
      "stale for \(staleness.wholeSeconds) s, allowed \(limit.wholeSeconds) s"
    case .serverError(let code): "status \(code) and no stale-if-error"
    case .rules: "switched off"
    }
  }

  /// The section.
  public var section: String {
    switch self {
    case .policy, .rules: ""
    case .miss(let reason): reason.section
    case .authorized: "RFC 9111 §3.5"
    case .setCookie: "RFC 9111 §7.3"
    case .invalidated: "RFC 9111 §4.4"
    case .responseNoCache: "RFC 9111 §5.2.2.4"
    case .requestNoCache: "RFC 9111 §5.2.1.4"
    case .requestFreshness: "RFC 9111 §5.2.1.1"
    case .mustRevalidate: "RFC 9111 §5.2.2.2"
    case .proxyRevalidate: "RFC 9111 §5.2.2.8"
    case .sMaxAge: "RFC 9111 §5.2.2.10"
    case .tooStale: "RFC 9111 §4.2.4"
    case .serverError: "RFC 5861 §4"
    }
  }
}
