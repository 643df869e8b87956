import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes

/// Changes of the store that follow from the origin's response.
extension ExchangeRunner {
  /// Writes the updated records, then answers with the first one; nil if its body cannot be opened.
  func freshened(
    _ indices: [Int], _ answer: Exchange.StoredAnswer, _ conversation: Conversation
  ) async -> CacheResponse? {
    let (exchange, variants) = (conversation.exchange, conversation.variants)
    let ticket = conversation.forward.ticket
    var refused: [(CacheRecord, StoringDecision)] = []
    // Write invalidations last, because an invalidation overtakes the other updates.
    let marked = indices.filter { exchange.candidates[$0].isInvalidated }
    for index in indices where !exchange.candidates[index].isInvalidated {
      let record = variants[index].record
      let updated = exchange.candidates[index]
      let decision = await decision(on: updated, over: record, exchange)
      switch decision {
      case .store: await freshen(record, as: decision, exchange, ticket)
      case .refuse: refused.append((record, decision))
      }
    }
    for index in marked {
      let updated = exchange.candidates[index]
      await write(variants[index].record.freshened(updated).with(ticket: ticket))
    }
    let fresh = await cache.readableAnswer(answer, variants[answer.index], exchange, now: clock.now)
    // The answer now has its body open, so its record may be removed.
    for (record, decision) in refused { await freshen(record, as: decision, exchange, ticket) }
    return fresh
  }

  /// Removes and invalidates what the origin's response demands.
  ///
  /// - Returns: the conversation, with a new ticket that these changes do not overtake.
  func change(
    _ delivery: Exchange.Delivery, _ response: UpstreamResponse, _ conversation: Conversation
  ) async -> Conversation {
    guard delivery.changesStored else { return conversation }
    let exchange = conversation.exchange
    let isOvertaken =
      conversation.forward.ticket.map {
        cache.store.isOvertaken(exchange.key, groups: CacheGroups.names(of: response.head), since: $0)
      } ?? true
    if delivery.isGone {
      for key in await cache.removeAll(of: exchange.key, rules: exchange.rules) {
        cache.observe(.removed(key, .gone(status: response.head.status.code)))
      }
    }
    await cache.invalidate(delivery.invalidated)
    await cache.invalidate(groups: delivery.invalidatedGroups, of: exchange.key.target)
    var changed = conversation
    if !isOvertaken {
      changed.forward = changed.forward.with(
        ticket: cache.store.ticket(), wipeTicket: changed.forward.wipeTicket)
    }
    return changed
  }

  /// Removes and invalidates what the origin's response demands.
  func apply(_ updates: [Exchange.RecordUpdate], _ conversation: Conversation) async {
    let (exchange, ticket) = (conversation.exchange, conversation.forward.ticket)
    for update in updates {
      let record = conversation.variants[update.index].record
      if update.isFreshening {
        let decision = await decision(on: update.response, over: record, exchange)
        await freshen(record, as: decision, exchange, ticket)
        continue
      }
      await write(record.freshened(update.response).with(ticket: ticket))
    }
  }

  /// Writes a stored response that was only invalidated.
  func write(_ record: CacheRecord) async {
    do throws(CacheError) {
      if try await cache.store.update(record) { cache.observe(.invalidated(target: record.key.target)) }
    } catch {
      cache.observe(.storeFailed(operation: "freshen", error))
    }
  }
}
