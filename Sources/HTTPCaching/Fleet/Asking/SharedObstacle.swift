import HTTPCacheSemantics

/// Why a request does not ask the tier of its fleet.
enum SharedObstacle: Sendable, Hashable, CustomStringConvertible {
  case partition
  case method
  case policy(CachePolicy)
  case directive
  case notConnected
  case unshareable

  var description: String {
    switch self {
    case .partition: "this partition is not shared"
    case .method: "only GET and HEAD without content and preconditions are shared"
    case .policy(let policy): "the policy \(policy) asks the origin"
    case .directive: "the request demands the origin's answer, or forbids asking for it"
    case .notConnected: "the tier is not connected, or changes of this node are not in its log yet"
    case .unshareable: "a response to it could not be shared within the last minute"
    }
  }
}
