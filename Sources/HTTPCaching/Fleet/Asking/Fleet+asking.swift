import HTTPCacheSemantics
import HTTPCacheStore
import Synchronization

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
        exchange: exchange, ticket: conversation.ticket, isLed: conversation.flight != nil))
  }

  /// Why a request does not ask the tier, in words; nil if it does.
  func obstacle(_ exchange: Exchange, isBackground: Bool) -> String? {
    // A shared cache decides for the partition of one user by the rules of a private one.
    guard shares(mode: exchange.rules.mode, partition: exchange.key.partition) else {
      return "this partition is not shared"
    }
    guard exchange.request.method == .get || exchange.request.method == .head, exchange.requestMiss == nil
    else {
      return "only GET and HEAD without content and preconditions are shared"
    }
    switch exchange.policy {
    case .standard, .cacheElseNetwork: break
    case .revalidate where isBackground: break
    case .revalidate, .reload, .reloadEverywhere, .bypass, .cacheOnly, .networkElseCache:
      return "the policy \(exchange.policy) asks the origin"
    }
    let directives = exchange.directives
    if directives.noStore || directives.noCache || directives.pragmaNoCache || directives.onlyIfCached
      || directives.maxAge == 0
    {
      return "the request demands the origin's answer, or forbids asking for it"
    }
    guard log.isUsable else {
      return "the tier is not connected, or changes of this node are not in its log yet"
    }
    let isUnshareable = unshareable.withLock { $0.contains(RequestSort(exchange), uptime: clock.uptime) }
    return isUnshareable ? "a response to it could not be shared within the last minute" : nil
  }
}
