/// The source of an answer, as in `URLSessionTaskMetrics`.
public enum FetchType: Sendable, Hashable {
  /// From the store, without asking the origin or after it failed.
  case localCache
  /// From the store, confirmed by the origin.
  case validated
  /// From the origin, or from the transfer of another request.
  case networkLoad
}

extension CacheOutcome {
  /// The source of the answer; nil for a request that was refused.
  public var fetchType: FetchType? {
    switch self {
    case .hit: .localCache
    case .validated: .validated
    case .forwarded: .networkLoad
    case .unsatisfiable: nil
    }
  }
}
