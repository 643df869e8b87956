/// Which stored responses a 304 freshens (RFC 9111 §4.3.4).
public enum FresheningDecision: Sendable, Hashable {
  /// Those at these indices; the first one answers the request.
  case freshen([Int])
  /// None, but the one at this index answers the request: its strong entity tag is that of the selected
  /// representation, though the request does not match it.
  case reuse(Int)
  /// None: the request has to be made again without the condition.
  case noMatch
}
