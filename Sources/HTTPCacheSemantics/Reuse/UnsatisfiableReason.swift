/// Why a request that must not go to the origin cannot be answered.
public enum UnsatisfiableReason: Reason, Hashable {
  /// Nothing stored can be used.
  case miss(MissReason)
  /// The stored response would have to be validated.
  case validation(ValidationReason)
}
