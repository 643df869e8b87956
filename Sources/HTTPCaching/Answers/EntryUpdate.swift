/// A change of the entry that a caller watches: see `HTTPCache.watch(_:options:)`.
#if hasAttribute(nonexhaustive)
  @nonexhaustive
#endif
public enum EntryUpdate: Sendable {
  /// This response is stored: it was there when the watch began, or it replaces the last one.
  case stored(CacheResponse)
  /// The origin confirmed the last response; its fields may be new, its body is not (RFC 9111 §4.3.4).
  case freshened(CacheResponse)
  /// The last response is kept, and no longer used before the origin confirms it (RFC 9111 §4.4).
  case invalidated
  /// The last response is removed.
  case removed
}
