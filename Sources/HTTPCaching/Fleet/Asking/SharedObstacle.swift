import HTTPCacheSemantics
import HTTPCacheStore
import Synchronization

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

/// Whether a request asks the tier.
extension Fleet {
  /// The way to the origin for a request: by the tier, or the upstream alone for a request that does not ask the tier.
  ///
  /// - Parameter isBackground: whether the request validates a stored response after its use.
  func upstream(
    over origin: any Upstream, for conversation: Conversation, isBackground: Bool
  ) -> (any Upstream)? {
    let exchange = conversation.exchange
    guard obstacle(exchange, isBackground: isBackground) == nil else { return nil }
    return SharedUpstream(
      fleet: self, origin: origin,
      question: SharedQuestion(
        exchange: exchange, forward: conversation.forward, isLed: conversation.flight != nil))
  }

  /// Why a request does not ask the tier; nil if it does.
  func obstacle(_ exchange: Exchange, isBackground: Bool) -> SharedObstacle? {
    // A shared cache decides for the partition of one user by the rules of a private one.
    guard shares(mode: exchange.rules.mode, partition: exchange.key.partition) else { return .partition }
    guard exchange.request.method == .get || exchange.request.method == .head, exchange.requestMiss == nil
    else {
      return .method
    }
    switch exchange.policy {
    case .standard, .cacheElseNetwork: break
    case .revalidate: if !isBackground { return .policy(exchange.policy) }
    case .reload, .reloadEverywhere, .bypass, .cacheOnly, .networkElseCache: return .policy(exchange.policy)
    }
    let directives = exchange.directives
    if directives.noStore || directives.noCache || directives.pragmaNoCache || directives.onlyIfCached
      || directives.maxAge == 0
    {
      return .directive
    }
    guard log.isUsable else { return .notConnected }
    let isUnshareable = unshareable.withLock { $0.contains(RequestSort(exchange), uptime: clock.uptime) }
    return isUnshareable ? .unshareable : nil
  }
}
