import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes

/// Answers without an exchange: nothing of them asks the origin.
extension AnswerMaker {
  // MARK: From memory

  /// A fresh answer from memory, without suspending; nil if the caller has to call `respond`.
  func peek(
    _ request: HTTPRequest, at place: Lookup.Place, bodyForms: BodyForms,
    where mayUse: (HTTPResponse) -> Bool = { _ in true }
  ) -> CacheResponse? {
    guard let found = lookup.inMemory(request, at: place, bodyForms: bodyForms), mayUse(found.response.head)
    else { return nil }
    return answer(
      found.response, head: found.head, outcome: found.outcome, from: found.variant, to: found.asked)
  }

  /// As `HTTPCache.memoryHit(for:options:longestBody:)`.
  func memoryHit(for request: HTTPRequest, options: RequestOptions, longestBody: Int) -> MemoryHit? {
    guard configuration.rules.isPlain, !options.isPrivate(under: configuration.rules),
      let place = try? lookup.place(of: request, options: options),
      let found = lookup.inMemory(request, at: place, bodyForms: options.bodyForms, toUseAgain: true),
      case .hit(_, _, allowance: nil) = found.outcome, found.response.trailers.isEmpty,
      let response = answer(
        found.response, head: found.head, outcome: found.outcome, from: found.variant, to: found.asked,
        event: .never),
      let length = response.body.length, length <= longestBody,
      let body = (response.body.source as? MultipartRangesSource)?.content ?? response.body.bytesInMemory
    else { return nil }
    var nominated = Set(found.stored.flatMap { $0.record.response.nominated.map(\.name) })
    let isGuessed = found.stored.contains { $0.record.response.facts.lifetimeSource == .heuristic }
    let rules = configuration.rules
    if rules.separatesCredentials || options.separatesCredentials {
      nominated.formUnion([.authorization, .cookie])
    } else if rules.mode == .shared, isGuessed {
      // A guess answers no request with credentials (`ValidationReason.guessWithCredentials`). The caller must tell
      // requests with a cookie from others; its value does not matter.
      nominated.insert(.authorization)
    }
    return MemoryHit(
      head: response.head, body: body, outcome: found.outcome, nominatedFields: nominated,
      time: found.asked.now, key: found.asked.key, target: found.asked.target,
      records: found.stored.map(\.record), uses: uses(of: found))
  }

  /// The uses of an answer without a look-up; nil if it has to be looked up each time.
  private func uses(of found: FoundInMemory) -> RepeatedUses? {
    // The generation does not tell of all changes of responses that are only in the memory of a tier.
    guard let generation = found.generation, let memory = shelf.memory,
      found.stored.allSatisfy({ !$0.record.isMemoryOnly })
    else {
      return nil
    }
    return RepeatedUses(of: found.asked.key, since: generation, at: found.asked.now, countedBy: memory)
  }

  /// As `HTTPCache.use(_:)`.
  func use(_ hit: MemoryHit) -> Bool {
    guard configuration.clock.now == hit.time else { return false }
    if isUnchanged(hit) {
      hit.uses?.add()
    } else if !isFoundAgain(hit) {
      return false
    }
    // Not through the store of a fleet, which only counts what comes from the tier.
    shelf.localStore.count(CacheCounts(hits: 1, hitBytes: Int64(hit.body.count)))
    observers.tell(.answered(target: hit.target, hit.outcome))
    return true
  }

  /// Whether a hit may be used as it is: nothing of its key has changed since it was looked up, and no invalidation or
  /// removal since then includes its responses. Takes no lock.
  private func isUnchanged(_ hit: MemoryHit) -> Bool {
    guard let uses = hit.uses, lookup.mayUseEntries, shelf.failedChanges.isEmpty, let memory = shelf.memory
    else {
      return false
    }
    let (found, now) = (uses.generation, memory.generation(of: hit.key))
    guard found.changes == now.changes else { return false }
    if uses.compared >= now.selections { return true }
    let isSelected = hit.records.contains {
      memory.hasSelected(hit.key, groups: $0.groups, since: found.selections)
    }
    // The store may have other counters by now.
    guard !isSelected, memory.generation(of: hit.key).changes == now.changes else { return false }
    uses.didCompare(upTo: now.selections)
    return true
  }

  private func isFoundAgain(_ hit: MemoryHit) -> Bool {
    guard let stored = lookup.inMemory(hit.key, rules: configuration.rules), stored.count == hit.records.count
    else { return false }
    for index in stored.indices where stored[index].record !== hit.records[index] { return false }
    return true
  }

  // MARK: From the whole store

  /// The stored answer to a request, after following stored redirects; nil if the origin would have to be
  /// asked.
  ///
  /// - Parameters:
  ///   - content: the content of a QUERY. Its redirects are not followed here.
  ///   - onlyFresh: whether to refuse stale responses, even allowed ones.
  ///   - event: when the observer is told.
  /// - Throws: `CacheError` with `invalidRequest`.
  func stored(
    for request: HTTPRequest, content: QueryContent? = nil, policy: CachePolicy,
    options: RequestOptions, onlyFresh: Bool = false, event: AnswerEvent = .atOnce
  ) throws(CacheError) -> CacheResponse? {
    var chain = RedirectChain(of: request, options: options)
    while true {
      var exchange = try lookup.exchange(
        for: options.adding(to: chain.request), content: content, policy: policy, options: options)
      guard var response = stored(for: &exchange, onlyFresh: onlyFresh, event: event) else { return nil }
      switch chain.step(after: response, isRepeatable: exchange.isRepeatable) {
      case .end:
        response.redirects = chain.outcomes
        return response
      case .limitReached: return nil
      case .follow: if exchange.request.method == .query { return nil }
      }
    }
  }

  private func stored(
    for exchange: inout Exchange, onlyFresh: Bool = false, event: AnswerEvent = .atOnce,
    where mayUse: (StoredResponse) -> Bool = { _ in true }
  ) -> CacheResponse? {
    guard case .lookUp = exchange.start(), var variants = lookup.variants(for: exchange) else { return nil }
    variants.removeAll { $0.record.response.seen(by: exchange.rules).map(mayUse) != true }
    while true {
      let now = configuration.clock.now
      guard case .answer(let found, _) = lookup.look(among: variants, for: &exchange, now: now) else {
        return nil
      }
      if onlyFresh, case .hit(_, _, _?) = found.outcome { return nil }
      if let response = answer(
        found, from: variants[found.index], to: exchange.asked(at: now), event: event)
      {
        return response
      }
      // The body is gone or damaged: treat this variant as not stored.
      variants.remove(at: found.index)
    }
  }

  /// As `HTTPCache.stored(for:partition:in:isCounted:where:)`.
  func storedOfAnyAge(
    for request: HTTPRequest, partition: String, in forms: BodyForms, isCounted: Bool,
    where mayUse: (StoredResponse) -> Bool
  ) -> (response: CacheResponse, record: CacheRecord)? {
    guard request.method == .get || request.method == .head else { return nil }
    var request = request
    for name in [HTTPField.Name.ifMatch, .ifNoneMatch, .ifModifiedSince, .ifUnmodifiedSince] {
      request.headerFields[name] = nil
    }
    let options = RequestOptions(partition: partition, bodyForms: forms)
    guard
      var exchange = try? lookup.exchange(for: request, policy: .cacheElseNetwork, options: options)
    else { return nil }
    exchange.takesAnyAge = true
    guard
      let response = stored(for: &exchange, event: isCounted ? .atOnce : .never, where: mayUse),
      let record = response.record
    else { return nil }
    return (response, record)
  }
}
