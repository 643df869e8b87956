/// The reason why a stale response may be used (RFC 9111 §4.2.4).
#if hasAttribute(nonexhaustive)
  @nonexhaustive
#endif
public enum StaleAllowance: Reason, Hashable {
  /// The request's `max-stale` (§5.2.1.2).
  case maxStale
  /// The request's policy.
  case policy(CachePolicy)
  /// A directive of the response; for `stale-if-error`, also one of the request (RFC 5861 §4).
  case window(ReuseWindow)
  /// The origin cannot be reached (§4.2.4).
  case disconnected
}

extension StaleAllowance {
  /// A few words for people.
  public var description: String {
    switch self {
    case .maxStale: "max-stale in the request"
    case .policy(let policy): "policy \(policy.name)"
    case .window(let window): window.rawValue
    case .disconnected: "the origin cannot be reached"
    }
  }

  /// The section.
  public var section: String {
    switch self {
    case .maxStale: "RFC 9111 §5.2.1.2"
    case .policy: ""
    case .window(let window): window.section
    case .disconnected: "RFC 9111 §4.2.4"
    }
  }

  /// A token for the detail of `Cache-Status`.
  var token: String {
    switch self {
    case .maxStale: "max-stale"
    case .policy(let policy): policy.name
    case .window(let window): window.rawValue
    case .disconnected: "disconnected"
    }
  }
}
