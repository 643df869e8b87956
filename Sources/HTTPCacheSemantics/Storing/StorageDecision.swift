/// Whether a response may be stored (RFC 9111 §3).
public enum StorageDecision: Sendable, Hashable {
  /// It may be stored.
  case store
  /// It must not be stored.
  case doNotStore(StorageRefusal)
}
