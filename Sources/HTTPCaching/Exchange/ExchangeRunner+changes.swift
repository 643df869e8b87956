import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes

/// What the origin's response changes of what is stored.
extension ExchangeRunner {
  /// Writes the updated records, then answers with the first; nil if its body cannot be had.
  func freshened(
    _ indices: [Int], _ answer: Exchange.StoredAnswer, _ forward: Exchange.Forward, _ exchange: Exchange,
    _ variants: [StoredVariant]
  ) async -> CacheResponse? {
    var refused: [(CacheRecord, StoringDecision)] = []
    // Marks come last: they overtake the others.
    let marked = indices.filter { exchange.candidates[$0].isInvalidated }
    for index in indices where !exchange.candidates[index].isInvalidated {
      let record = variants[index].record
      let updated = exchange.candidates[index]
      let decision = await decision(on: updated, over: record, exchange)
      switch decision {
      case .store: await freshen(record, as: decision, exchange, forward.ticket)
      case .refuse: refused.append((record, decision))
      }
    }
    for index in marked {
      let updated = exchange.candidates[index]
      await write(variants[index].record.freshened(updated).with(ticket: forward.ticket))
    }
    let fresh = await cache.readableAnswer(answer, variants[answer.index], exchange, now: clock.now)
    // The answer has its body open; only now may it go.
    for (record, decision) in refused { await freshen(record, as: decision, exchange, forward.ticket) }
    return fresh
  }

  /// Removes and invalidates what the origin's response demands.
  ///
  /// - Returns: the forwarded request, with a ticket that its own changes do not overtake.
  func change(
    _ delivery: Exchange.Delivery, _ response: UpstreamResponse, _ forward: Exchange.Forward,
    _ exchange: Exchange
  ) async -> Exchange.Forward {
    guard delivery.changesStored else { return forward }
    let isOvertaken =
      forward.ticket.map {
        cache.store.isOvertaken(exchange.key, groups: CacheGroups.names(of: response.head), since: $0)
      } ?? true
    if delivery.isGone {
      for key in await cache.removeAll(of: exchange.key, rules: exchange.rules) {
        cache.observe(.removed(key, .gone(status: response.head.status.code)))
      }
    }
    await cache.invalidate(delivery.invalidated)
    await cache.invalidate(groups: delivery.invalidatedGroups, of: exchange.key.target)
    var changed = forward
    if !isOvertaken { changed.ticket = cache.store.ticket() }
    return changed
  }

  /// Changes what is stored as the origin's response demands.
  func apply(
    _ updates: [Exchange.RecordUpdate], _ forward: Exchange.Forward, _ exchange: Exchange,
    _ variants: [StoredVariant]
  ) async {
    for update in updates {
      let record = variants[update.index].record
      if update.isFreshening {
        let decision = await decision(on: update.response, over: record, exchange)
        await freshen(record, as: decision, exchange, forward.ticket)
        continue
      }
      await write(record.freshened(update.response).with(ticket: forward.ticket))
    }
  }

  /// Writes a stored response that got nothing but a mark.
  func write(_ record: CacheRecord) async {
    do throws(CacheError) { _ = try await cache.store.update(record) } catch {
      cache.observe(.storeFailed(operation: "freshen", error))
    }
  }
}
