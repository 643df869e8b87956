import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes

extension ExchangeRunner {
  /// Answers with the origin's response, and stores it if that is allowed.
  func deliver(
    _ delivery: Exchange.Delivery, _ response: UpstreamResponse, _ conversation: Conversation
  ) async -> CacheResponse {
    await apply(delivery.updates, conversation)
    let conversation = await change(delivery, response, conversation)
    switch delivery.storage {
    case .doNotStore(let refusal): return pass(response, refusal, conversation)
    case .store(let stored):
      switch await decision(on: stored, conversation.exchange) {
      case .store(let terms): return await store(terms, response, conversation)
      case .refuse(let refusal): return await supersede(response, refusal, conversation)
      }
    }
  }

  /// Stores the response under the terms of the hooks; passes it on if the store does not take it.
  private func store(
    _ terms: StoringTerms, _ response: UpstreamResponse, _ conversation: Conversation
  ) async -> CacheResponse {
    do throws(CacheError) {
      return try await begin(terms, response, conversation)
    } catch {
      if terms.isMemoryOnly, error.code == .invalidRequest {
        return await supersede(response, .memoryOnly, conversation)
      }
      conversation.flight?.release()
      if error.code != .tooLarge, error.code != .notAdmitted {
        cache.observe(.storeFailed(operation: "store", error))
      }
      return cache.pass(response, .doNotStore(cache.refusal(of: error)), conversation)
    }
  }

  /// Passes on a response that only its content or the store refused, and invalidates what it supersedes.
  private func supersede(
    _ response: UpstreamResponse, _ refusal: StorageRefusal, _ conversation: Conversation
  ) async -> CacheResponse {
    conversation.flight?.release(isUnshareable: true)
    await apply(
      conversation.exchange.superseded(by: response.head, .doNotStore(refusal)), conversation)
    return cache.pass(response, .doNotStore(refusal), conversation)
  }

  /// Passes on a response that cannot be stored nor shared with followers.
  func pass(
    _ response: UpstreamResponse, _ refusal: StorageRefusal, _ conversation: Conversation
  ) -> CacheResponse {
    conversation.flight?.release(isUnshareable: true)
    return cache.pass(response, .doNotStore(refusal), conversation)
  }

  /// Starts to store the response; the caller and the followers read it meanwhile.
  private func begin(
    _ terms: StoringTerms, _ response: UpstreamResponse, _ conversation: Conversation
  ) async throws(CacheError) -> CacheResponse {
    let (exchange, forward, flight) = (conversation.exchange, conversation.forward, conversation.flight)
    let stored = terms.response
    let length = response.head.status.hasNoContent ? 0 : response.body.length
    let part = PartialContent.part(of: response.head)
    let key = await cache.storageKey(for: exchange, stored, isMemoryOnly: terms.isMemoryOnly)
    let record = terms.record(
      for: key, head: response.head, length: length, ticket: forward.ticket(for: key, exchange.key))
    let writer = try await cache.store.write(record, variantLimit: rules.variantLimit)
    // A part cannot be shared with followers.
    if part != nil { flight?.release(isUnshareable: true) }
    var outdated = exchange.outdated(by: stored).map { conversation.variants[$0].record }
    if key != exchange.key, part == nil {
      outdated += conversation.variants.map(\.record).filter { $0.key == exchange.key }
    }
    let transfer = Transfer(
      body: response.body,
      extent: part.map { TransferExtent($0.range, length: length) } ?? TransferExtent(length: length),
      writer: writer, clock: cache.configuration.clock, executor: cache.configuration.executor,
      verifier: DigestVerifier(response, isPart: part != nil || response.head.status.hasNoContent),
      storableTrailers: { [head = response.head, rules = exchange.rules, terms] in
        FieldHygiene.storable(trailers: $0, of: head, rules: rules).without(terms.strippedNames)
      },
      onCommit: { [cache, outdated, terms, alias = exchange.rules.alias] record in
        await cache.committed(
          record, askedFor: part?.range, length: length, of: exchange.request, outdated: outdated)
        await cache.restorePointer(
          to: key, from: exchange.key, alias: alias, stored, isPinned: terms.isPinned,
          isMemoryOnly: terms.isMemoryOnly)
      },
      onEnd: cache.transferEnd(
        of: response.head, conversation, storedAs: key, isConfidential: hook != nil))
    guard let body = transfer.makeBody() else {
      throw CacheError(.closed, "the transfer ended before it began", key: exchange.key)
    }
    await cache.begin(transfer, for: exchange.key, storedAs: key, forward)
    flight?.share(SharedTransfer(response: stored, transfer: transfer, groups: record.groups))
    transfer.start()
    if length == 0 { await transfer.ended() }
    return cache.deliver(response.head, body, .store, conversation, stored: stored)
  }
}
