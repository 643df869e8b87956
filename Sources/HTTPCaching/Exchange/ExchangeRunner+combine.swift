import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes

extension ExchangeRunner {
  /// Adds a 206 to the stored part, and answers from both; nil if that is not possible and the request must be
  /// sent again.
  func combine(
    _ combination: Exchange.Combination, from response: UpstreamResponse, in conversation: Conversation
  ) async -> CacheResponse? {
    let exchange = conversation.exchange
    // If the number of octets differs from `Content-Range`, they may not be the missing ones.
    if combination.completion != nil, let length = response.body.length, length != combination.range.count {
      shelf.failedCompletions.insert(exchange.key)
      response.body.source.cancel()
      return nil
    }
    let old = conversation.variants[combination.index].record
    switch await decision(on: combination.stored, over: old, exchange) {
    case .store(let terms):
      return await extend(old, under: terms, by: combination, from: response, in: conversation)
    case .refuse(let refusal):
      await shelf.freshen(old, as: .refuse(refusal), for: exchange.key, ticket: conversation.ticket)
      return pass(response, unless: combination, refusal: refusal, in: conversation)
    }
  }

  /// Starts to add the part to the stored one; the caller and the followers read both meanwhile.
  private func extend(
    _ old: CacheRecord, under terms: StoringTerms, by combination: Exchange.Combination,
    from response: UpstreamResponse, in conversation: Conversation
  ) async -> CacheResponse? {
    let (exchange, flight) = (conversation.exchange, conversation.flight)
    let completion = combination.completion
    let record = terms.applied(to: old).storing(old.storedRanges, bodyLength: combination.length)
      .with(ticket: conversation.ticket)
    let writer: any BodyWriter
    do throws(CacheError) {
      writer = try await shelf.store.extend(record, at: combination.range.lowerBound)
    } catch {
      if error.code != .unavailable { engine.observers.tell(.storeFailed(operation: "extend", error)) }
      return pass(response, unless: combination, refusal: .partialContent, in: conversation)
    }
    let wanted = completion.flatMap(\.wanted)?.clamped(to: 0..<(combination.length ?? .max))
    let end = completion.map { _ in wanted?.upperBound ?? combination.length ?? 0 }
    // Only a whole response can be shared with followers.
    if completion == nil || wanted != nil { flight?.release(isUnshareable: true) }
    var entry = IncomingEntry(terms, head: response.head, to: conversation, storedAs: record.key, in: engine)
    entry.isConfidential = hook != nil
    entry.verifier = DigestVerifier(response, isPart: true)
    entry.combined = CombinedDigest(
      terms.response, parts: (old.storedRanges ?? []) + [combination.range], length: combination.length)
    entry.continued = old
    entry.isCompletion = completion != nil
    let transfer = Transfer(
      body: response.body,
      extent: TransferExtent(
        combination.range,
        length: completion == nil ? response.body.length : Int64(combination.range.count),
        readableEnd: end),
      writer: writer, entry: entry, clock: clock, executor: engine.configuration.executor)
    let range = end.map { (wanted?.lowerBound ?? 0)..<$0 }
    guard let source = transfer.makeSource(range) else {
      response.body.source.cancel()
      return nil
    }
    await shelf.register(transfer, for: exchange.key, storedAs: record.key, ticket: conversation.ticket)
    flight?.share(
      FlightTransfer(
        response: terms.response, transfer: transfer, groups: record.groups,
        isFromTier: conversation.tierAge != nil, range: range))
    transfer.start()
    return answer(
      conversation, with: head(of: combination, wanted: wanted, response, to: exchange.request),
      MessageBody(source), storing: combination.stored, status: response.head.status.code)
  }

  private func head(
    of combination: Exchange.Combination, wanted: Range<Int64>?, _ response: UpstreamResponse,
    to request: HTTPRequest
  ) -> HTTPResponse {
    if combination.completion == nil { return response.head }
    let head = combination.stored.head(age: Age.current(combination.stored, now: clock.now))
    guard let wanted else { return head }
    return RangeRequest.head(head, range: wanted, length: combination.length, answering: request)
  }

  /// The part is not stored: passes on the answer to the caller's own range; any other request is sent again
  /// for the whole response.
  private func pass(
    _ response: UpstreamResponse, unless combination: Exchange.Combination, refusal: StorageRefusal,
    in conversation: Conversation
  ) -> CacheResponse? {
    guard combination.completion == nil else {
      response.body.source.cancel()
      return nil
    }
    return passUnshared(response, refusal: refusal, in: conversation)
  }
}
