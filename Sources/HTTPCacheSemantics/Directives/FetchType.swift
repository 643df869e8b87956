/// How an answer was come by, as `URLSessionTaskMetrics` tells it.
public enum FetchType: Sendable, Hashable {
  /// From the store, without asking the origin or after it failed.
  case localCache
  /// From the store, confirmed by the origin.
  case validated
  /// From the origin, or along with another request's transfer from there.
  case networkLoad
}

extension CacheOutcome {
  /// How the answer was come by; nil for a request that was refused.
  public var fetchType: FetchType? {
    switch self {
    case .hit: .localCache
    case .validated: .validated
    case .forwarded: .networkLoad
    case .unsatisfiable: nil
    }
  }
}
