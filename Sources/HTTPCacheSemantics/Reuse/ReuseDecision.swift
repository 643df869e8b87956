/// The decision for a request and its stored response (RFC 9111 §4).
public enum ReuseDecision: Sendable, Hashable {
  /// Reuse without asking the origin.
  case fresh(age: Duration, lifetime: Duration)
  /// Reuse although stale.
  case stale(StaleAllowance, age: Duration, lifetime: Duration)
  /// Ask the origin, with a condition if there is a validator.
  case validate(ValidationReason)
  /// Forward: nothing stored can be used.
  case miss(MissReason)
  /// The request forbids asking the origin and nothing stored can be used (§5.2.1.7).
  case unsatisfiable(UnsatisfiableReason)
}
