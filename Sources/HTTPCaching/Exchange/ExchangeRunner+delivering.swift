import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes

extension ExchangeRunner {
  /// Answers with the origin's response, and stores it if that is allowed and the store takes it.
  func deliver(
    _ delivery: Exchange.Delivery, from response: UpstreamResponse, in conversation: Conversation
  ) async -> CacheResponse {
    await apply(delivery.updates, in: conversation)
    let conversation = await change(delivery, from: response, in: conversation)
    switch delivery.storage {
    case .failure(let refusal): return passUnshared(response, refusal: refusal, in: conversation)
    case .success(let stored):
      let refusal: StorageRefusal
      switch await decision(on: stored, conversation.exchange) {
      case .store(let terms):
        do throws(CacheError) { return try await store(response, under: terms, in: conversation) } catch {
          refusal = shelf.refusal(of: error, isMemoryOnly: terms.isMemoryOnly)
          // The store may take the next one, but never what must stay in memory.
          conversation.flight?.release(isUnshareable: refusal == .memoryOnly)
          if refusal.isLasting { conversation.fetch?.refuse() }
        }
      case .refuse(let reason):
        refusal = reason
        conversation.refuse(reason)
      }
      // Only the content or the store refused it: it supersedes what is stored.
      await apply(
        conversation.exchange.superseded(by: response.head, .failure(refusal)), in: conversation)
      return pass(response, refusal: refusal, in: conversation)
    }
  }

  /// Starts to store the response; the caller and the followers read it meanwhile.
  private func store(
    _ response: UpstreamResponse, under terms: StoringTerms, in conversation: Conversation
  ) async throws(CacheError) -> CacheResponse {
    let (exchange, flight) = (conversation.exchange, conversation.flight)
    let stored = terms.response
    let length = response.head.status.hasNoContent ? 0 : response.body.length
    let part = PartialContent.part(of: response.head)
    let key = await engine.names.storageKey(for: exchange, terms, ticket: conversation.ticket)
    let record = terms.record(
      for: key, head: response.head, length: length, ticket: conversation.ticket(for: key),
      // Its end may show that it contradicts the stored part, which then stays.
      replacesParts: !(response.body.source is ExactBody))
    let writer = try await shelf.store.write(record, variantLimit: shelf.rules.variantLimit)
    // A part cannot be shared with followers.
    if part != nil { flight?.release(isUnshareable: true) }
    var entry = IncomingEntry(terms, head: response.head, to: conversation, storedAs: key, in: engine)
    entry.isConfidential = hook != nil
    entry.verifier = DigestVerifier(response, isPart: part != nil || response.head.status.hasNoContent)
    (entry.range, entry.length) = (part?.range, length)
    if part == nil { entry.storedPrefix = exchange.storedPrefix(of: response.head, receivedAt: clock.now) }
    entry.outdated = exchange.outdated(by: stored).map { conversation.variants[$0].record }
    if key != exchange.key, part == nil {
      entry.outdated += conversation.variants.map(\.record).filter { $0.key == exchange.key }
    }
    entry.superseded = exchange.superseded(by: response.head, .failure(.notAdmitted)).map {
      conversation.variants[$0.index].record.freshened($0.response).with(ticket: conversation.ticket)
    }
    let transfer = Transfer(
      body: response.body,
      extent: part.map { TransferExtent($0.range, length: length) } ?? TransferExtent(length: length),
      writer: writer, entry: entry, clock: clock, executor: executor(forBodyOf: length))
    guard let source = transfer.makeSource() else {
      throw CacheError(.closed, "the transfer ended before it began", key: exchange.key)
    }
    await shelf.register(transfer, for: exchange.key, storedAs: key, ticket: conversation.ticket)
    flight?.share(
      FlightTransfer(
        response: stored, transfer: transfer, groups: record.groups, isFromTier: conversation.tierAge != nil))
    transfer.start()
    if length == 0 { await transfer.ended() }
    return answer(conversation, with: response.head, MessageBody(source), storing: stored)
  }

  /// Where a body is stored. What is done for a long one, such as its digest, would keep the thread of a door.
  private func executor(forBodyOf length: Int64?) -> (any TaskExecutor)? {
    let own = length.map { $0 <= Self.smallBody } ?? false ? options.executor : nil
    return own ?? engine.configuration.executor
  }

  private static let smallBody: Int64 = 64 << 10

  // MARK: Passing on

  /// Passes on a response that can neither be stored nor shared with followers.
  func passUnshared(
    _ response: UpstreamResponse, refusal: StorageRefusal, in conversation: Conversation
  ) -> CacheResponse {
    conversation.refuse(refusal)
    if let fetch = conversation.fetch, let fleet = engine.fleet,
      conversation.exchange.refusesSharing(response.head, now: clock.now, in: fleet)
    {
      fetch.refuse()
    }
    return pass(response, refusal: refusal, in: conversation)
  }

  /// Answers with the origin's response, which is not stored.
  func pass(
    _ response: UpstreamResponse, refusal: StorageRefusal, in conversation: Conversation
  ) -> CacheResponse {
    let exchange = conversation.exchange
    shelf.notStored(
      refusal, response.head, to: exchange.request, key: exchange.key, rules: exchange.rules,
      ticket: conversation.ticket)
    let count: @Sendable (Int64) -> Void = {
      [store = shelf.store, isShared = conversation.tierAge != nil] bytes in
      if bytes > 0 { store.count(.received(bytes, isShared: isShared)) }
    }
    var body = response.body
    if let bytes = body.bytesInMemory {
      count(Int64(bytes.count))
    } else {
      body = MessageBody(ObservedBody(body, ended: count) { _, _ in })
    }
    return answer(conversation, with: response.head, body, refusal: refusal)
  }
}

/// Whether a GET could be answered from the tier, as the answer to a HEAD tells.
extension Exchange {
  /// Whether the response to a GET instead of this HEAD could not be shared: its head would be the same
  /// (RFC 9110 §9.3.2). False for other methods, and if the origin does not answer HEAD: 405 and 501 are about the
  /// method.
  ///
  /// - Parameters:
  ///   - head: the origin's answer to this HEAD.
  ///   - now: when the answer arrived.
  ///   - fleet: the fleet that responses are shared with.
  fileprivate func refusesSharing(_ head: HTTPResponse, now: Timestamp, in fleet: Fleet) -> Bool {
    guard request.method == .head, ![405, 501].contains(head.status.code) else { return false }
    var get = request
    get.method = .get
    let response = ReceivedResponse(head, requestTime: now, responseTime: now)
    do throws(StorageRefusal) {
      let stored = try storedByResponseAlone(response, to: get, isDecoded: false)
      let length = head.headerFields[.contentLength].flatMap { Int64($0) }
      return !fleet.mayPublish(stored, of: key, length: length)
    } catch {
      return error.isLasting
    }
  }
}
