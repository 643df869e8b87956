import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes

extension ExchangeRunner {
  /// Adds a 206 to the stored part, and answers from both; nil if that is not possible and the request must be
  /// sent again.
  func combine(
    _ combination: Exchange.Combination, _ response: UpstreamResponse, _ forward: Exchange.Forward,
    _ exchange: Exchange, _ variants: [StoredVariant], _ flight: FlightHold?
  ) async -> CacheResponse? {
    let completion = combination.completion
    // If the number of octets differs from `Content-Range`, they may not be the missing ones.
    if completion != nil, let length = response.body.length, length != combination.range.count {
      cache.failedCompletions.insert(exchange.key)
      response.body.source.cancel()
      return nil
    }
    let old = variants[combination.index].record
    let terms: StoringTerms
    switch await decision(on: combination.stored, over: old, exchange) {
    case .store(let decided): terms = decided
    case .refuse(let refusal):
      await freshen(old, as: .refuse(refusal), exchange, forward.ticket)
      return refused(refusal, combination, response, forward, exchange, flight)
    }
    let record = terms.applied(to: old).storing(old.storedRanges, bodyLength: combination.length)
      .with(ticket: forward.ticket)
    let writer: any BodyWriter
    do throws(CacheError) {
      writer = try await cache.store.extend(record, at: combination.range.lowerBound)
    } catch {
      return refused(error, combination, response, forward, exchange, flight)
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
        of: response.head, to: exchange.request, key: exchange.key,
        storedAs: record.key, isCompletion: completion != nil, isConfidential: hook != nil, flight))
    let range = end.map { (wanted?.lowerBound ?? 0)..<$0 }
    guard let body = transfer.makeBody(range) else {
      response.body.source.cancel()
      return nil
    }
    await cache.begin(transfer, for: exchange.key, storedAs: record.key, forward)
    flight?.share(
      SharedTransfer(
        response: terms.response, transfer: transfer, groups: record.groups, range: range))
    transfer.start()
    return cache.deliver(
      head(combination, wanted, response, exchange.request), body, .store, forward, exchange,
      stored: combination.stored, status: response.head.status.code)
  }

  private func head(
    _ combination: Exchange.Combination, _ wanted: Range<Int64>?, _ response: UpstreamResponse,
    _ request: HTTPRequest
  ) -> HTTPResponse {
    if combination.completion == nil { return response.head }
    let now = cache.configuration.clock.now
    let head = ResponseHead.fromStore(
      combination.stored, age: Age.current(combination.stored, now: now))
    guard let wanted else { return head }
    return RangeRequest.head(head, range: wanted, length: combination.length, answering: request)
  }

  /// The store refuses the part: passes on the answer to the caller's own range; any other request is sent
  /// again for the whole response.
  private func refused(
    _ error: CacheError, _ combination: Exchange.Combination, _ response: UpstreamResponse,
    _ forward: Exchange.Forward, _ exchange: Exchange, _ flight: FlightHold?
  ) -> CacheResponse? {
    if error.code != .unavailable {
      cache.observe(.storeFailed(operation: "extend", error))
    }
    return refused(.partialContent, combination, response, forward, exchange, flight)
  }

  private func refused(
    _ refusal: StorageRefusal, _ combination: Exchange.Combination, _ response: UpstreamResponse,
    _ forward: Exchange.Forward, _ exchange: Exchange, _ flight: FlightHold?
  ) -> CacheResponse? {
    guard combination.completion == nil else {
      response.body.source.cancel()
      return nil
    }
    flight?.release(isUnshareable: true)
    return cache.pass(response, .doNotStore(refusal), forward, exchange)
  }
}
