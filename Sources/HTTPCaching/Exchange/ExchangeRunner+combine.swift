import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes

extension ExchangeRunner {
  /// Adds a 206 to the stored part, and answers from both; nil if that is not possible and the request must be
  /// sent again.
  func combine(
    _ combination: Exchange.Combination, _ response: UpstreamResponse, _ conversation: Conversation
  ) async -> CacheResponse? {
    let exchange = conversation.exchange
    // If the number of octets differs from `Content-Range`, they may not be the missing ones.
    if combination.completion != nil, let length = response.body.length, length != combination.range.count {
      cache.failedCompletions.insert(exchange.key)
      response.body.source.cancel()
      return nil
    }
    let old = conversation.variants[combination.index].record
    switch await decision(on: combination.stored, over: old, exchange) {
    case .store(let terms): return await extend(old, terms, combination, response, conversation)
    case .refuse(let refusal):
      await freshen(old, as: .refuse(refusal), exchange, conversation.forward.ticket)
      return refused(refusal, combination, response, conversation)
    }
  }

  /// Starts to add the part to the stored one; the caller and the followers read both meanwhile.
  private func extend(
    _ old: CacheRecord, _ terms: StoringTerms, _ combination: Exchange.Combination,
    _ response: UpstreamResponse, _ conversation: Conversation
  ) async -> CacheResponse? {
    let (exchange, flight) = (conversation.exchange, conversation.flight)
    let completion = combination.completion
    let record = terms.applied(to: old).storing(old.storedRanges, bodyLength: combination.length)
      .with(ticket: conversation.forward.ticket)
    let writer: any BodyWriter
    do throws(CacheError) {
      writer = try await cache.store.extend(record, at: combination.range.lowerBound)
    } catch {
      if error.code != .unavailable { cache.observe(.storeFailed(operation: "extend", error)) }
      return refused(.partialContent, combination, response, conversation)
    }
    let wanted = completion.flatMap(\.wanted)?.clamped(to: 0..<(combination.length ?? .max))
    let end = completion.map { _ in wanted?.upperBound ?? combination.length ?? 0 }
    // Only a whole response can be shared with followers.
    if completion == nil || wanted != nil { flight?.release(isUnshareable: true) }
    let transfer = Transfer(
      body: response.body,
      extent: TransferExtent(
        combination.range,
        length: completion == nil ? response.body.length : Int64(combination.range.count),
        readableEnd: end),
      writer: writer, clock: cache.configuration.clock, executor: cache.configuration.executor,
      verifier: DigestVerifier(response, isPart: true),
      combined: CombinedDigest(
        terms.response, parts: (old.storedRanges ?? []) + [combination.range],
        length: combination.length, discard: { [cache] in await cache.discard(old) }),
      storableTrailers: { [head = response.head, rules = exchange.rules] in
        FieldHygiene.storable(trailers: $0, of: head, rules: rules).without(terms.strippedNames)
      },
      onCommit: { [cache, request = exchange.request] record in
        await cache.committed(record, of: request)
      },
      onEnd: cache.transferEnd(
        of: response.head, conversation, storedAs: record.key, isCompletion: completion != nil,
        isConfidential: hook != nil))
    let range = end.map { (wanted?.lowerBound ?? 0)..<$0 }
    guard let body = transfer.makeBody(range) else {
      response.body.source.cancel()
      return nil
    }
    await cache.begin(transfer, for: exchange.key, storedAs: record.key, conversation.forward)
    flight?.share(
      SharedTransfer(
        response: terms.response, transfer: transfer, groups: record.groups, range: range))
    transfer.start()
    return cache.deliver(
      head(combination, wanted, response, exchange.request), body, .store, conversation,
      stored: combination.stored, status: response.head.status.code)
  }

  private func head(
    _ combination: Exchange.Combination, _ wanted: Range<Int64>?, _ response: UpstreamResponse,
    _ request: HTTPRequest
  ) -> HTTPResponse {
    if combination.completion == nil { return response.head }
    let now = cache.configuration.clock.now
    let head = combination.stored.head(age: Age.current(combination.stored, now: now))
    guard let wanted else { return head }
    return RangeRequest.head(head, range: wanted, length: combination.length, answering: request)
  }

  /// The part is not stored: passes on the answer to the caller's own range; any other request is sent again
  /// for the whole response.
  private func refused(
    _ refusal: StorageRefusal, _ combination: Exchange.Combination, _ response: UpstreamResponse,
    _ conversation: Conversation
  ) -> CacheResponse? {
    guard combination.completion == nil else {
      response.body.source.cancel()
      return nil
    }
    return pass(response, refusal, conversation)
  }
}
