public import HTTPTypes

/// Which stored response a request selects (RFC 9111 §4.1).
public enum VariantSelection: Sendable, Hashable {
  /// The one at this index.
  case selected(Int)
  /// None is stored.
  case nothingStored
  /// None matches in these fields.
  case mismatch([HTTPField.Name])
}
