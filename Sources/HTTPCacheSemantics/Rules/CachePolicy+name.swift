extension CachePolicy {
  /// Whether an answer with this status counts as if the origin could not be reached.
  public func countsAsFailure(_ status: Int) -> Bool {
    if case .networkElseCache(_, let onStatus) = self { onStatus.contains(status) } else { false }
  }

  /// The name without parameters, for output to people.
  public var name: String {
    switch self {
    case .standard: "standard"
    case .reload: "reload"
    case .reloadEverywhere: "reloadEverywhere"
    case .revalidate: "revalidate"
    case .cacheElseNetwork: "cacheElseNetwork"
    case .cacheOnly: "cacheOnly"
    case .bypass: "bypass"
    case .networkElseCache: "networkElseCache"
    }
  }
}
