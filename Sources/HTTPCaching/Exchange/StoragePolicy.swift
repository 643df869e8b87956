/// Where a response may be stored.
public enum StoragePolicy: Sendable, Hashable {
  /// In memory and on disk.
  case allowed
  /// In memory, never on disk. Where a cache has no memory, it is not stored.
  case allowedInMemoryOnly
  /// Nowhere.
  case notAllowed
}
