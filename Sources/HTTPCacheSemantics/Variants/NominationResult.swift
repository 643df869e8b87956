public import HTTPTypes

/// What the `Vary` of a response makes of the request it answers (RFC 9111 §4.1).
public enum NominationResult: Sendable, Hashable {
  /// The fields it nominates, with their values in the request; none without `Vary`.
  case fields([NominatedField])
  /// `*`: the response can never be selected.
  case any
  /// It nominates this secret field, and there is no digest to keep in its place.
  case secretWithoutDigest(HTTPField.Name)
  /// It holds something that is no field name, or too many names.
  case malformed
}
