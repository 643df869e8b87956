import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes

extension ExchangeRunner {
  /// Asks the hooks about a response that is about to be stored.
  ///
  /// - Parameter record: the stored one that is about to be freshened; nil for a new one.
  func decision(
    on response: StoredResponse, over record: CacheRecord? = nil, _ exchange: Exchange
  ) async -> StoringDecision {
    var terms = StoringTerms(response: response)
    if let record {
      terms.userInfo = record.userInfo
      terms.isPinned = record.isPinned
      terms.isMemoryOnly = record.isMemoryOnly
    } else {
      terms.isPinned = exchange.rules.pins(response.head)
    }
    guard let hook else { return .store(terms) }
    let proposal = ProposedRecord(
      key: exchange.key, head: response.head, userInfo: terms.userInfo,
      storagePolicy: terms.isMemoryOnly ? .allowedInMemoryOnly : .allowed,
      isPinned: terms.isPinned, isFreshening: record != nil)
    let proposed: ProposedRecord?
    do throws(HookFailure) {
      proposed = try await hook.ask(
        exchange.request, proposal, clock: cache.configuration.clock)
    } catch {
      cache.observe(.hookFailed(target: exchange.target, error))
      if case .timedOut = error { return .refuse(.hookTimedOut) }
      return .refuse(.hookFailed)
    }
    guard let proposed, proposed.storagePolicy != .notAllowed else { return .refuse(.hook) }
    if proposed.storagePolicy == .allowedInMemoryOnly {
      // What lies on disk cannot be taken from there; where all is memory there is nothing to do.
      if let record, !record.isMemoryOnly {
        guard cache.store is MemoryStore else { return .refuse(.memoryOnly) }
      } else {
        terms.isMemoryOnly = true
      }
    }
    terms.userInfo = proposed.userInfo
    terms.isPinned = proposed.isPinned
    terms.strippedNames = hook.strippedNames
    guard proposed.head.headerFields != response.head.headerFields else { return .store(terms) }
    terms.response = response.changed(by: proposed.head, rules: exchange.rules)
    if let refusal = refusal(of: terms.response, insteadOf: response, exchange) {
      return .refuse(refusal)
    }
    for field in response.head.headerFields
    where !terms.response.head.headerFields.contains(field.name) {
      terms.strippedNames.insert(field.name)
    }
    return .store(terms)
  }

  /// The hooks of the cache and of the request, as one.
  var hook: StoringHook? {
    guard let first = cache.configuration.willStore else { return options.willStore }
    return options.willStore.map(first.then) ?? first
  }

  /// Why a response with a changed head may not be stored, though it might have been without.
  private func refusal(
    of changed: StoredResponse, insteadOf original: StoredResponse, _ exchange: Exchange
  ) -> StorageRefusal? {
    let decide = { (stored: StoredResponse) in
      Storability.decide(
        request: exchange.request.unranged, response: stored.head, rules: exchange.rules,
        now: stored.responseTime)
    }
    guard case .doNotStore(let refusal) = decide(changed), case .store = decide(original) else {
      return nil
    }
    return refusal
  }

  /// Writes a stored response with newer fields, or removes it if the hooks do not want it.
  ///
  /// - Returns: whether it is stored as before, with the new fields or without.
  @discardableResult
  func freshen(
    _ record: CacheRecord, as decision: StoringDecision, _ exchange: Exchange
  ) async -> Bool {
    switch decision {
    case .store(let terms):
      do throws(CacheError) {
        if try await cache.store.update(terms.applied(to: record)) {
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
