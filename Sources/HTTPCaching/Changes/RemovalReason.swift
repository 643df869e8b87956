public import HTTPCacheSemantics

/// Why a stored response was removed.
#if hasAttribute(nonexhaustive)
  @nonexhaustive
#endif
public enum RemovalReason: Sendable, Hashable, CustomStringConvertible {
  /// It may no longer be stored; found when it was about to be freshened.
  case refused(StorageRefusal)
  /// The origin answered with this status, 404 or 410: the resource is gone (`CacheRules.removesGone`).
  case gone(status: Int)
  /// A caller removed everything stored for a request.
  case requested

  /// A few words for people.
  public var description: String {
    switch self {
    case .refused(let refusal): refusal.description
    case .gone(let status): "the origin answered \(status)"
    case .requested: "a caller asked for it"
    }
  }
}
