/// The decision for a request and its stored response (RFC 9111 §4).
public enum ReuseDecision: Sendable, Hashable {
  /// Reuse without asking the origin. Age and lifetime in seconds.
  case fresh(age: Int64, lifetime: Int64)
  /// Reuse although stale. Age and lifetime in seconds.
  case stale(StaleAllowance, age: Int64, lifetime: Int64)
  /// Ask the origin, with a condition if there is a validator.
  case validate(ValidationReason)
  /// Forward: nothing stored can be used.
  case miss(MissReason)
  /// The request forbids asking the origin and nothing stored can be used (§5.2.1.7).
  case unsatisfiable(UnsatisfiableReason)
}
