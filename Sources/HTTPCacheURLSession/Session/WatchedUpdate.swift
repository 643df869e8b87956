/// A change of the stored response that a caller watches: see `CachedURLSession.watch(_:)`.
#if hasAttribute(nonexhaustive)
  @nonexhaustive
#endif
public enum WatchedUpdate: Sendable {
  /// This response is stored: it was there when the watch began, or it replaces the last one.
  case stored(Data, URLResponse)
  /// The origin confirmed the last response: its body stays, its fields may be new (RFC 9111 §4.3.4).
  case freshened(URLResponse)
  /// The last response is kept, and no longer used before the origin confirms it (RFC 9111 §4.4).
  case invalidated
  /// The last response is removed.
  case removed
}
