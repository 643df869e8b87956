import ArgumentParser
import HTTPCaching

/// How a request uses the cache, as an argument.
enum PolicyArgument: String, CaseIterable, ExpressibleByArgument {
  case standard
  case reload
  case reloadEverywhere = "reload-everywhere"
  case revalidate
  case cacheElseNetwork = "cache-else-network"
  case cacheOnly = "cache-only"
  case bypass
  case networkElseCache = "network-else-cache"

  /// The policy.
  var policy: CachePolicy {
    switch self {
    case .standard: .standard
    case .reload: .reload
    case .reloadEverywhere: .reloadEverywhere
    case .revalidate: .revalidate
    case .cacheElseNetwork: .cacheElseNetwork
    case .cacheOnly: .cacheOnly
    case .bypass: .bypass
    case .networkElseCache: .networkElseCache()
    }
  }
}
