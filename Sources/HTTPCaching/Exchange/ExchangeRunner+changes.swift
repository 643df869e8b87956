import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes

/// Changes of the store that follow from the origin's response.
extension ExchangeRunner {
  /// Writes the updated records, then answers with the first one; nil if its body cannot be opened.
  func freshened(
    _ indices: [Int], _ answer: Exchange.StoredAnswer, _ forward: Exchange.Forward, _ exchange: Exchange,
    _ variants: [StoredVariant]
  ) async -> CacheResponse? {
    var refused: [(CacheRecord, StoringDecision)] = []
    // Write marks last, because a mark overtakes the other updates.
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
    // The answer now has its body open, so its record may be removed.
    for (record, decision) in refused { await freshen(record, as: decision, exchange, forward.ticket) }
    return fresh
  }

  /// Removes and invalidates what the origin's response demands.
  ///
  /// - Returns: the forwarded request, with a new ticket that these changes do not overtake.
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

  /// Removes and invalidates what the origin's response demands.
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

  /// Writes a stored response that was only marked.
  func write(_ record: CacheRecord) async {
    do throws(CacheError) { _ = try await cache.store.update(record) } catch {
      cache.observe(.storeFailed(operation: "freshen", error))
    }
  }
}
