import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes

extension ExchangeRunner {
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
    guard let hook else { return .store(terms) }
    return await cache.decision(
      on: terms, over: record,
      HookQuestion(
        hook: hook, request: exchange.request, key: exchange.key, target: exchange.target,
        rules: exchange.rules,
        turn: .concurrent(cache.configuration.clock, executor: cache.configuration.executor)))
  }

  /// The hooks of the cache and of the request, combined.
  var hook: StoringHook? {
    guard let first = cache.configuration.willStore else { return options.willStore }
    return options.willStore.map(first.then) ?? first
  }

  /// Writes a stored response with newer fields, or removes it if the hooks refuse it.
  ///
  /// - Parameter ticket: the ticket of the request that validated it.
  /// - Returns: whether it is still stored, with the new fields or without.
  @discardableResult
  func freshen(
    _ record: CacheRecord, as decision: StoringDecision, _ exchange: Exchange,
    _ ticket: InvalidationTicket?
  ) async -> Bool {
    switch decision {
    case .store(let terms):
      do throws(CacheError) {
        if try await cache.store.update(terms.applied(to: record).with(ticket: ticket)) {
          cache.observe(.freshened(exchange.key))
        }
      } catch {
        cache.observe(.storeFailed(operation: "freshen", error))
      }
      return true
    case .refuse(let refusal):
      await cache.discard(record)
      cache.observe(.removed(exchange.key, .refused(refusal)))
      return false
    }
  }
}
