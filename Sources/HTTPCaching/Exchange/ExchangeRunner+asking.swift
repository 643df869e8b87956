import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes

extension ExchangeRunner {
  /// Asks the origin until there is an answer.
  func ask(_ conversation: Conversation) async throws -> CacheResponse {
    var conversation = conversation
    while true {
      let requestTime = clock.now
      let response: UpstreamResponse
      do throws(UpstreamError) {
        response = try await send(&conversation)
      } catch {
        return try await fail(error, conversation)
      }
      let measured = conversation.exchange.measured(response, receivedAt: clock.now)
      if let answer = try await act(on: measured, in: &conversation, sentAt: requestTime) { return answer }
    }
  }

  /// Sends the request with a new ticket. The followers are told of a failure.
  func send(_ conversation: inout Conversation) async throws(UpstreamError) -> UpstreamResponse {
    let exchange = conversation.exchange
    if let reason = engine.offlineReason {
      let error = engine.notAsked(exchange.target, reason)
      conversation.flight?.failed(error, isOwnLimit: false)
      throw error
    }
    conversation.ticket = shelf.store.ticket()
    (conversation.fetch, conversation.tierAge) = (nil, nil)
    let upstream =
      engine.fleet?.upstream(over: upstream, for: conversation, isBackground: isBackground) ?? upstream
    do throws(UpstreamError) {
      let response = try await upstream.send(
        UpstreamRequest(
          head: conversation.forward.request, body: exchange.content?.makeBody() ?? body,
          timeout: try limit.forUpstream(at: clock.uptime), priority: options.priority,
          context: options.context, onInterim: options.onInterim), limitedBy: clock)
      (conversation.fetch, conversation.tierAge) = (response.fetch, response.tierAge)
      return response
    } catch {
      engine.observers.tell(.upstreamFailed(target: exchange.target, error))
      conversation.flight?.failed(error, isOwnLimit: limit.isCause(of: error, at: clock.uptime))
      throw error
    }
  }

  /// Does what follows from the origin's head; nil if the request must be sent again, as `forward` then says.
  func act(
    on response: UpstreamResponse, in conversation: inout Conversation, sentAt requestTime: Timestamp
  ) async throws -> CacheResponse? {
    let key = conversation.exchange.key
    let clearsSite = conversation.exchange.clearsSite(response.head)
    // Open what a 304 confirms before it can be removed.
    let isConfirming = response.head.status.code == 304 && !conversation.forward.validating.isEmpty
    if clearsSite, !isConfirming {
      await shelf.clearSite(of: key)
      conversation.exchange.siteCleared()
    }
    let action = conversation.exchange.received(
      ReceivedResponse(response.head, requestTime: requestTime, responseTime: clock.now),
      isDecoded: response.isContentDecoded, refusal: response.storageRefusal)
    if case .deliver(let delivery) = action {
      return await deliver(delivery, from: response, in: conversation)
    }
    return try await perform(action, on: response, in: &conversation, clearsSite: clearsSite)
  }

  /// Performs an action. Apart from `act`: the memory for what these actions wait for is several KiB, and most responses
  /// are delivered.
  private func perform(
    _ action: Exchange.ResponseAction, on response: UpstreamResponse, in conversation: inout Conversation,
    clearsSite: Bool
  ) async throws -> CacheResponse? {
    let key = conversation.exchange.key
    switch action {
    case .deliver(let delivery): return await deliver(delivery, from: response, in: conversation)
    case .forwardAgain(let again):
      response.body.source.cancel()
      if clearsSite { await shelf.clearSite(of: key) }
      guard conversation.exchange.isRepeatable else {
        conversation.flight?.release()
        throw UpstreamError(.protocol, "the origin answered 304 to what is not stored")
      }
      conversation.forward = again
      return nil
    case .contradictory(let error):
      response.body.source.cancel()
      engine.observers.tell(.upstreamFailed(target: conversation.exchange.target, error))
      conversation.flight?.failed(error, isOwnLimit: false)
      return try await fail(error, conversation)
    case .answerStale: return await answerStale(insteadOf: response, in: conversation)
    case .freshen(let indices, let answer):
      let fresh = await freshened(indices, answering: conversation.seen(answer), in: conversation)
      if clearsSite { await shelf.clearSite(of: key) }
      if let fresh {
        conversation.flight?.lookAgain()
        return fresh
      }
    case .combine(let combination):
      if let combined = await combine(combination, from: response, in: conversation) { return combined }
    }
    conversation.forward = conversation.exchange.withoutCondition()
    return nil
  }

  /// Answers with a stale response after a server error; with the error if no stored body can be read.
  private func answerStale(
    insteadOf response: UpstreamResponse, in conversation: Conversation
  ) async -> CacheResponse {
    let status = response.head.status.code
    if let stale = await storedAnswer(conversation, after: { $0.failed(status: status, now: $1) }) {
      response.body.source.cancel()
      conversation.flight?.serverError(status)
      return stale
    }
    conversation.flight?.release()
    return pass(response, refusal: .storeFailed, in: conversation)
  }
}
