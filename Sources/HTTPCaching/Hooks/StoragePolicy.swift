/// Where a response may be stored.
public enum StoragePolicy: Sendable, Hashable {
  /// In memory and on disk.
  case allowed
  /// In memory, never on disk. A cache without memory does not store it.
  case allowedInMemoryOnly
  /// Nowhere.
  case notAllowed
}
