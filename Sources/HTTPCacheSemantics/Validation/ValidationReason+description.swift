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
    case .policy: ""
    case .variantMismatch: "RFC 9111 §4.1"
    case .invalidated: "RFC 9111 §4.4"
    }
  }
}
