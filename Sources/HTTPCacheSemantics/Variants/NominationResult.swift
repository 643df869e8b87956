package import HTTPTypes

/// The fields that the `Vary` of a response nominates (RFC 9111 §4.1).
package enum NominationResult: Sendable, Hashable {
  /// The fields it nominates, with their values in the request; none without `Vary`.
  case fields([NominatedField])
  /// `*`: the response can never be selected.
  case any
  /// It nominates this secret field, and no digest is available to store instead.
  case secretWithoutDigest(HTTPField.Name)
  /// It contains text that is not a field name, or too many names.
  case malformed
}
