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
      .variantMismatch:
      "to be validated (\(reason))"
    }
  }
}
