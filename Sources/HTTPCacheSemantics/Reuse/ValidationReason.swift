public import HTTPTypes

/// Why a stored response must be validated before it is used.
#if hasAttribute(nonexhaustive)
  @nonexhaustive
#endif
public enum ValidationReason: Reason, Hashable {
  /// Its age has reached its lifetime (§4.2).
  case stale(age: Duration, lifetime: Duration)
  /// The response said `no-cache` (§5.2.2.4).
  case responseNoCache
  /// The request said `no-cache` (§5.2.1.4).
  case requestNoCache
  /// The request said `Pragma: no-cache` and had no `Cache-Control` (§5.4).
  case pragmaNoCache
  /// The request's `max-age` is exceeded (§5.2.1.1).
  case requestMaxAge(Duration, age: Duration)
  /// The request's `min-fresh` is not met (§5.2.1.3).
  case requestMinFresh(Duration, remaining: Duration)
  /// Its lifetime is a guess of a shared cache, and the request has `Cookie` or `Authorization`: its user may get
  /// another response (§4.2.2).
  case guessWithCredentials
  /// The request's policy demands it.
  case policy(CachePolicy)
  /// It was stored for other values of the nominated fields, and the origin was asked whether its
  /// strong entity tag is that of this request's representation (§4.1).
  case variantMismatch([HTTPField.Name])
  /// It was invalidated, by an unsafe request or on demand (§4.4).
  case invalidated
}

extension ValidationReason {
  /// A few words for people.
  public var description: String {
    switch self {
    case .stale(let age, let lifetime):
      "stale: age \(age.wholeSeconds) s, lifetime \(lifetime.wholeSeconds) s"
    case .responseNoCache: "no-cache in the response"
    case .requestNoCache: "no-cache in the request"
    case .pragmaNoCache: "Pragma: no-cache in the request"
    case .requestMaxAge(let limit, let age):
      "max-age=\(limit.wholeSeconds) in the request: age \(age.wholeSeconds) s"
    case .requestMinFresh(let limit, let remaining):
      "min-fresh=\(limit.wholeSeconds) in the request: \(remaining.wholeSeconds) s left"
    case .guessWithCredentials: "Cookie or Authorization in the request, and a guessed lifetime"
    case .policy(let policy): "policy \(policy.name)"
    case .variantMismatch(let names): MissReason.variantMismatch(names).description
    case .invalidated: "invalidated"
    }
  }

  /// The section.
  public var section: String {
    switch self {
    case .stale: "RFC 9111 §4.2"
    case .responseNoCache: "RFC 9111 §5.2.2.4"
    case .requestNoCache: "RFC 9111 §5.2.1.4"
    case .pragmaNoCache: "RFC 9111 §5.4"
    case .requestMaxAge: "RFC 9111 §5.2.1.1"
    case .requestMinFresh: "RFC 9111 §5.2.1.3"
    case .guessWithCredentials: "RFC 9111 §4.2.2"
    case .policy: ""
    case .variantMismatch: "RFC 9111 §4.1"
    case .invalidated: "RFC 9111 §4.4"
    }
  }
}
