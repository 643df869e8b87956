/// The result of a look into memory.
public enum PeekResult: Sendable {
  /// These variants, complete: no other exist.
  case found([StoredVariant])
  /// Nothing is stored.
  case absent
  /// Memory cannot tell: call `read`.
  case unknown
}
