import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes

/// Answers that came from the origin, or in its stead.
extension ExchangeRunner {
  /// Answers with the origin's response.
  ///
  /// - Parameters:
  ///   - stored: the response that is being stored; nil if it is not.
  ///   - refusal: why it is not stored.
  ///   - status: the origin's status, if `head` has a different one.
  func answer(
    _ conversation: Conversation, with head: HTTPResponse, _ body: MessageBody,
    storing stored: StoredResponse? = nil, refusal: StorageRefusal? = nil, status: Int? = nil
  ) -> CacheResponse {
    let exchange = conversation.exchange
    let outcome: CacheOutcome
    if let tierAge = conversation.tierAge {
      shelf.store.count(CacheCounts(sharedHits: 1))
      outcome = tierAge.outcome(conversation.forward.reason)
    } else {
      shelf.store.count(CacheCounts(misses: 1))
      outcome = .forwarded(
        conversation.forward.reason, status: status ?? head.status.code,
        storage: refusal.map { .doNotStore($0) } ?? .store, collapsed: false)
    }
    return finish(
      head, body: body, outcome: outcome, of: exchange, stored: stored,
      change: exchange.contentChange(of: head, receivedAt: clock.now))
  }

  /// Answers a follower with the leader's response.
  func answer(
    _ conversation: Conversation, with shared: FlightTransfer, _ body: MessageBody, now: Timestamp
  ) -> CacheResponse {
    let (exchange, stored) = (conversation.exchange, shared.response)
    let age = Age.current(stored, now: now)
    let head = stored.head(age: age)
    let outcome: CacheOutcome
    if shared.isFromTier {
      shelf.store.count(CacheCounts(sharedHits: 1))
      outcome = SharedAge(age: age, lifetime: stored.facts.freshnessLifetime).outcome(
        conversation.forward.reason)
    } else {
      shelf.store.count(CacheCounts(hits: 1))
      outcome = .forwarded(
        conversation.forward.reason, status: head.status.code, storage: .store, collapsed: true)
    }
    return finish(
      head, body: body, outcome: outcome, of: exchange, stored: stored,
      change: exchange.contentChange(of: stored.head, receivedAt: now))
  }

  /// Answers a follower with the leader's response, which the origin confirmed.
  func answer(
    _ conversation: Conversation, _ confirmed: Exchange.StoredAnswer, _ body: MessageBody
  ) -> CacheResponse {
    let exchange = conversation.exchange
    shelf.store.count(CacheCounts(validated: 1))
    return finish(
      confirmed.head, body: body, outcome: confirmed.outcome, of: exchange,
      stored: confirmed.stored,
      change: exchange.contentChange(of: confirmed.stored.head, receivedAt: clock.now))
  }

  /// The 504 response to a request that forbids asking the origin (RFC 9111 §5.2.1.7).
  func refusal(_ reason: UnsatisfiableReason, for exchange: Exchange) -> CacheResponse {
    let text = BodyBytes(Array("504 Gateway Timeout: \(reason) (\(reason.section))\n".utf8))
    let head = HTTPResponse(
      status: .gatewayTimeout,
      headerFields: [.contentType: "text/plain; charset=utf-8", .contentLength: String(text.count)])
    return finish(
      head, body: exchange.request.method == .head ? .empty : MessageBody(text),
      outcome: .unsatisfiable(reason), of: exchange, stored: nil, change: .unknown)
  }

  /// Adds the cache's own fields to a head, and tells the observer.
  private func finish(
    _ head: HTTPResponse, body: MessageBody, outcome: CacheOutcome, of exchange: Exchange,
    stored: StoredResponse?, change: ContentChange
  ) -> CacheResponse {
    var head = head
    engine.answers.addOwnFields(to: &head, outcome, key: exchange.key, stored: stored)
    engine.observers.tell(.answered(target: exchange.target, outcome))
    var response = CacheResponse(
      head: head, body: body, outcome: outcome, finalTarget: exchange.target, contentChange: change)
    response.comparedRecord = exchange.comparedRecord
    return response
  }
}
