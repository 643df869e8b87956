public import HTTPCacheSemantics

/// Why a stored response was removed.
public enum RemovalReason: Sendable, Hashable, CustomStringConvertible {
  /// It was about to be freshened, and may not be stored any more.
  case refused(StorageRefusal)
  /// The origin said that there is no such resource any more, with this status
  /// (`CacheRules.removesGone`).
  case gone(status: Int)

  /// A few words for people.
  public var description: String {
    switch self {
    case .refused(let refusal): refusal.description
    case .gone(let status): "the origin answered \(status)"
    }
  }
}
