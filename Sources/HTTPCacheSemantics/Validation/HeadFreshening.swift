/// What a response to HEAD means for a stored response to GET (RFC 9111 §4.3.5).
public enum HeadFreshening: Sendable, Hashable {
  /// It is the same representation: store this in its place.
  case update(StoredResponse)
  /// It is another one: the stored response counts as stale.
  case invalidate
  /// It says nothing about the stored response.
  case unrelated
}
