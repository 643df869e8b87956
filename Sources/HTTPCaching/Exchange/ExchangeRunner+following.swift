import HTTPCacheSemantics
import HTTPCacheStore

/// Followers of a leader whose response is arriving.
extension ExchangeRunner {
  /// Answers with the leader's response (RFC 9111 §4). If the rules ask for a validation first, asks the origin with a
  /// condition, so that the origin sends the body once for all followers.
  func follow(_ shared: SharedTransfer, _ conversation: Conversation) async throws -> CacheResponse {
    var exchange = conversation.exchange
    if exchange.mayShare(shared.response, now: clock.now) {
      // A transfer that has ended, or broke off before this request got a byte, is ignored.
      guard let body = try await shared.makeBody(startingWithin: limit.left(at: clock.uptime), clock) else {
        return try await lookUp(&exchange, mayWait: false)
      }
      return answer(conversation, with: shared, body, now: clock.now)
    }
    guard let forward = exchange.validation(of: shared.response, now: clock.now) else {
      return try await ask(conversation)
    }
    return try await validate(
      shared.withReader(), by: Conversation(exchange, variants: [], forward: forward), conversation)
  }

  /// Asks the origin whether the leader's response may be used.
  ///
  /// - Parameters:
  ///   - shared: the response, with the reader of this follower.
  ///   - validation: the conditional request. Its candidate is the leader's response, which is not stored yet.
  ///   - conversation: the follower's request, which knows nothing of the leader's response.
  private func validate(
    _ shared: SharedTransfer, by validation: Conversation, _ conversation: Conversation
  ) async throws -> CacheResponse {
    var (validation, conversation) = (validation, conversation)
    let requestTime = clock.now
    let response: UpstreamResponse
    do throws(UpstreamError) {
      response = try await send(&validation)
    } catch {
      return try await fail(error, conversation)
    }
    conversation.forward = validation.forward
    (conversation.fetch, conversation.shared) = (validation.fetch, validation.shared)
    guard response.head.status.code == 304 else {
      if let answer = try await answer(&conversation, with: response, sentAt: requestTime) { return answer }
      return try await ask(conversation)
    }
    response.body.source.cancel()
    let key = conversation.exchange.key
    if conversation.exchange.clearsSite(response.head) { await shelf.clearSite(of: key) }
    guard
      case .freshen(_, let confirmed) = validation.exchange.received(
        response.head, requestTime: requestTime, responseTime: clock.now,
        isDecoded: response.isContentDecoded, refusal: response.storageRefusal)
    else {
      conversation.forward = conversation.exchange.withoutCondition()
      return try await ask(conversation)
    }
    if validation.exchange.candidates.contains(where: \.isInvalidated) { await shelf.overtake(key) }
    guard let body = try await shared.makeBody(startingWithin: limit.left(at: clock.uptime), clock) else {
      return try await lookUp(&conversation.exchange, mayWait: false)
    }
    return answer(validation, confirmed, body)
  }
}
