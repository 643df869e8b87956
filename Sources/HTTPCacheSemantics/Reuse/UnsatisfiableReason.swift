/// Why a request that must not go to the origin cannot be answered.
public enum UnsatisfiableReason: Reason, Hashable {
  /// Nothing stored can be used.
  case miss(MissReason)
  /// The stored response would have to be validated.
  case validation(ValidationReason)
}

extension UnsatisfiableReason {
  /// A few words for people.
  public var description: String {
    switch self {
    case .miss(let reason): "asking the origin is forbidden, and \(reason)"
    case .validation(let reason): "asking the origin is forbidden, and the response is \(phrase(reason))"
    }
  }

  /// The section.
  public var section: String { "RFC 9111 §5.2.1.7" }

  private func phrase(_ reason: ValidationReason) -> String {
    switch reason {
    case .stale, .invalidated: reason.description
    case .responseNoCache, .requestNoCache, .pragmaNoCache, .requestMaxAge, .requestMinFresh, .policy,
      .variantMismatch, .guessWithCredentials:
      "to be validated (\(reason))"
    }
  }
}
