public import HTTPTypes

/// The stored response that a request selects (RFC 9111 §4.1).
public enum VariantSelection: Sendable, Hashable {
  /// The response at this index.
  case selected(Int)
  /// No response is stored.
  case nothingStored
  /// No response matches; they differ in these fields.
  case mismatch([HTTPField.Name])
}
