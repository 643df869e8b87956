/// The stored responses that a 304 freshens (RFC 9111 §4.3.4).
public enum FresheningDecision: Sendable, Hashable {
  /// The candidates at these indices; the first one answers the request.
  case freshen([Int])
  /// None, but the candidate at this index answers the request: its strong entity tag is that of the selected
  /// representation, although the request does not match it.
  case reuse(Int)
  /// None: the request must be sent again without the condition.
  case noMatch
}
