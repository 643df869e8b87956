extension CachePolicy {
  /// Its name without parameters, for lines that people read.
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
