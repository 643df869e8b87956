import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes

/// Changes of the store that follow from the origin's response.
extension ExchangeRunner {
  /// Writes the updated records, then answers with the first one; nil if its body cannot be opened.
  func freshened(
    _ indices: [Int], answering answer: Exchange.StoredAnswer, in conversation: Conversation
  ) async -> CacheResponse? {
    let (exchange, variants) = (conversation.exchange, conversation.variants)
    let ticket = conversation.ticket
    var refused: [(CacheRecord, StoringDecision)] = []
    // Write invalidations last, because an invalidation overtakes the other updates.
    let marked = indices.filter { exchange.candidates[$0].isInvalidated }
    for index in indices where !exchange.candidates[index].isInvalidated {
      let record = variants[index].record
      let updated = exchange.candidates[index]
      let decision = await decision(on: updated, over: record, exchange)
      switch decision {
      case .store: await shelf.freshen(record, as: decision, for: exchange.key, ticket: ticket)
      case .refuse: refused.append((record, decision))
      }
    }
    for index in marked {
      let updated = exchange.candidates[index]
      await shelf.update(invalidated: variants[index].record.freshened(updated).with(ticket: ticket))
    }
    let fresh = await engine.answers.readableAnswer(
      answer, from: variants[answer.index], to: exchange.asked(at: clock.now))
    // The answer now has its body open, so its record may be removed.
    for (record, decision) in refused {
      await shelf.freshen(record, as: decision, for: exchange.key, ticket: ticket)
    }
    return fresh
  }

  /// Removes and invalidates what the origin's response demands.
  ///
  /// - Returns: the conversation, with a new ticket that these changes do not overtake.
  func change(
    _ delivery: Exchange.Delivery, from response: UpstreamResponse, in conversation: Conversation
  ) async -> Conversation {
    guard delivery.changesStored else { return conversation }
    let exchange = conversation.exchange
    let isOvertaken =
      conversation.ticket.map {
        shelf.store.isOvertaken(exchange.key, groups: CacheGroups.names(of: response.head), since: $0)
      } ?? true
    if delivery.isGone {
      let names = lookup.names(of: exchange.key, rules: exchange.rules)
      await shelf.removeAll(
        of: exchange.key, storedUnder: names, because: .gone(status: response.head.status.code))
    }
    await shelf.invalidate(delivery.invalidated)
    await shelf.invalidate(groups: delivery.invalidatedGroups, of: exchange.key.target)
    var changed = conversation
    if !isOvertaken { changed.ticket = shelf.store.ticket().forRequest(of: conversation.ticket) }
    return changed
  }

  /// Freshens or invalidates the stored records that the origin's response updates.
  func apply(_ updates: [Exchange.RecordUpdate], in conversation: Conversation) async {
    let (exchange, ticket) = (conversation.exchange, conversation.ticket)
    for update in updates {
      let record = conversation.variants[update.index].record
      if update.isFreshening {
        let decision = await decision(on: update.response, over: record, exchange)
        await shelf.freshen(record, as: decision, for: exchange.key, ticket: ticket)
        continue
      }
      await shelf.update(invalidated: record.freshened(update.response).with(ticket: ticket))
    }
  }

  // MARK: Hooks

  /// Asks the hooks about a response that is about to be stored.
  ///
  /// - Parameter record: the stored record that is about to be freshened; nil for a new response.
  func decision(
    on response: StoredResponse, over record: CacheRecord? = nil, _ exchange: Exchange
  ) async -> StoringDecision {
    var terms = StoringTerms(response: response)
    terms.isPinned = exchange.rules.pins(response.head)
    if let record {
      terms.userInfo = record.userInfo
      terms.isPinned = terms.isPinned || record.isPinned
      terms.isMemoryOnly = record.isMemoryOnly
    }
    return await shelf.decision(
      on: terms, over: record,
      asking: hook.map {
        HookQuestion(
          hook: $0, request: exchange.request, key: exchange.key, target: exchange.target,
          rules: exchange.rules,
          turn: .concurrent(engine.clock, executor: engine.configuration.executor))
      })
  }

  /// The hooks of the cache and of the request, combined.
  var hook: StoringHook? {
    guard let first = engine.configuration.willStore else { return options.willStore }
    return options.willStore.map(first.then) ?? first
  }
}
