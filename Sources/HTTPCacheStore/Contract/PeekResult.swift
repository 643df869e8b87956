/// What a look into memory found.
public enum PeekResult: Sendable {
  /// These variants, complete: no other exist.
  case found([StoredVariant])
  /// Nothing is stored.
  case absent
  /// Memory does not know: `read` has to be asked.
  case unknown
}
