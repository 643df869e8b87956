/// The effect of a response to HEAD on a stored response to GET (RFC 9111 §4.3.5).
public enum HeadFreshening: Sendable, Hashable {
  /// It describes the same representation: store this response instead.
  case update(StoredResponse)
  /// It describes another representation: the stored response counts as stale.
  case invalidate
  /// It says nothing about the stored response.
  case unrelated
}
