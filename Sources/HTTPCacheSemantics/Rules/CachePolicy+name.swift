extension CachePolicy {
  /// Whether an answer with this status counts as if the origin could not be reached.
  public func countsAsFailure(_ status: Int) -> Bool {
    if case .networkElseCache(_, let onStatus) = self { onStatus.contains(status) } else { false }
  }

  /// Whether a request with this policy may wait for the transfer of another request, and lead one. A running
  /// transfer comes from the network, as `.networkElseCache` asks for.
  package var mayShareTransfers: Bool {
    switch self {
    case .standard, .cacheElseNetwork, .networkElseCache: true
    case .reload, .reloadEverywhere, .revalidate, .cacheOnly, .bypass: false
    }
  }

  /// Its name without parameters, for lines that people read, as the options of `httpcache` spell it.
  public var name: String {
    switch self {
    case .standard: "standard"
    case .reload: "reload"
    case .reloadEverywhere: "reload-everywhere"
    case .revalidate: "revalidate"
    case .cacheElseNetwork: "cache-else-network"
    case .cacheOnly: "cache-only"
    case .bypass: "bypass"
    case .networkElseCache: "network-else-cache"
    }
  }
}
