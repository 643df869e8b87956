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

  /// The effect of the policy, for `--help`.
  var meaning: String {
    switch self {
    case .standard: "use a fresh response, validate a stale one, ask the origin otherwise (RFC 9111)"
    case .reload: "ask the origin without a condition, and store its answer"
    case .reloadEverywhere: "like reload, and tell the caches on the way to do so too"
    case .revalidate: "use a stored response only if the origin confirms it"
    case .cacheElseNetwork: "use a stored response, fresh or stale; ask the origin only if there is none"
    case .cacheOnly: "use a stored response, fresh or stale; never ask the origin (exit status 7 on a miss)"
    case .bypass: "ask the origin; neither read nor write the cache"
    case .networkElseCache: "ask the origin; use a stored response if the origin cannot be reached"
    }
  }

  static let allValueDescriptions = Dictionary(
    uniqueKeysWithValues: allCases.map { ($0.rawValue, $0.meaning) })
}
