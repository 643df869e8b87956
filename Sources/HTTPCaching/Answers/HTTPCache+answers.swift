import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes

extension HTTPCache {
  /// The stored variants that a request may use; nil, after telling the observer, if the store cannot be read.
  func variants(for exchange: Exchange) -> [StoredVariant]? {
    do throws(CacheError) {
      let stored = try stored(for: exchange.key, rules: exchange.rules)
      if stored.isEmpty { forgetPointer(of: exchange) }
      return stored.filter { variant in
        let response = variant.record.response
        return response.isIn(exchange.bodyForms) && response.seen(by: exchange.rules) != nil
      }
    } catch {
      observe(.storeFailed(operation: "read", error))
      return nil
    }
  }

  /// The next action for a request, given its stored variants.
  func look(
    among variants: [StoredVariant], for exchange: inout Exchange, now: Timestamp
  ) -> Exchange.LookAction {
    let parts = variants.parts
    if !parts.isEmpty { exchange.mayComplete = !failedCompletions.contains(exchange.key) }
    let rules = exchange.rules
    let responses = variants.map { variant in
      let response = variant.record.response
      return response.seen(by: rules) ?? response
    }
    let action = exchange.found(responses, parts: parts, now: now)
    exchange.comparedRecord = (exchange.matched ?? exchange.matching.first).map { variants[$0].record }
    return action
  }

  /// The variants that are complete and in a form that the request accepts.
  func usable(
    _ variants: [StoredVariant], _ forms: BodyForms
  ) -> [StoredVariant] {
    let isUsable = { (variant: StoredVariant) in
      variant.record.isComplete && variant.record.response.isIn(forms)
    }
    return variants.allSatisfy(isUsable) ? variants : variants.filter(isUsable)
  }

  /// The answer from the store; nil if its body cannot be opened.
  func answer(
    _ answer: Exchange.StoredAnswer, _ variant: StoredVariant, _ exchange: Exchange, now: Timestamp,
    event: AnswerEvent = .atOnce
  ) -> CacheResponse? {
    self.answer(
      answer.stored, head: answer.stored.head(age: answer.age),
      outcome: answer.outcome, variant,
      to: AskedRequest(
        request: exchange.request, features: exchange.features, key: exchange.key,
        target: exchange.target, now: now), event: event)
  }

  /// Like `answer`, but first reads the beginning of the body; nil if that read fails.
  func readableAnswer(
    _ answer: Exchange.StoredAnswer, _ variant: StoredVariant, _ exchange: Exchange, now: Timestamp
  ) async -> CacheResponse? {
    guard let response = self.answer(answer, variant, exchange, now: now, event: .onceReadable) else {
      return nil
    }
    // The read itself tells the observer why it failed.
    do throws(CacheError) {
      switch response.body.source {
      case let source as StoredBodySource: try await source.readBeginning()
      case let source as MultipartRangesSource: try await source.readBeginning()
      default: break
      }
    } catch { return nil }
    observe(.answered(target: exchange.target, response.outcome))
    return response
  }

  /// The answer from the store; nil if its body cannot be opened.
  ///
  /// - Parameters:
  ///   - stored: the response to send; it may be newer than the record of `variant`, which has the body.
  ///   - whole: the head of the complete response, with its age.
  ///   - event: when the observer is told.
  func answer(
    _ stored: StoredResponse, head whole: @autoclosure () -> HTTPResponse, outcome: CacheOutcome,
    _ variant: StoredVariant, to asked: AskedRequest, event: AnswerEvent = .atOnce
  ) -> CacheResponse? {
    let reader: any BodyReader
    do throws(CacheError) {
      reader = try variant.body.open()
    } catch {
      observe(.storeFailed(operation: "open", error))
      return nil
    }
    let length = reader.length ?? variant.record.bodyLength
    guard
      let plan = StoredAnswerPlan(
        request: asked.request, features: asked.features, stored: stored, head: whole(), length: length,
        part: variant.record.part, now: asked.now)
    else { return nil }
    var counts = CacheCounts()
    if case .validated = outcome { counts.validated = 1 } else { counts.hits = 1 }
    let body: MessageBody
    var head: HTTPResponse
    switch plan {
    case .head(let planned):
      head = planned
      body = .empty
    case .body(let planned, let range):
      head = planned
      counts.hitBytes = range.upperBound - range.lowerBound
      body = MessageBody(
        StoredBodySource(
          reader: reader, range: range, trailers: stored.trailers, counts: counts, onDamage: readFailed))
    case .parts(let whole, let ranges):
      // Random, so that no body can contain it on purpose.
      let boundary = "swift-http-cache-" + String(UInt64.random(in: .min ... .max), radix: 16)
      let source = MultipartRangesSource(
        reader: reader, ranges: ranges, total: length,
        contentType: whole.headerFields[.contentType], boundary: boundary,
        counts: counts, onDamage: readFailed)
      head = MultipartRangesSource.head(whole, boundary: boundary, length: source.length)
      counts.hitBytes = source.length ?? 0
      body = MessageBody(source)
    }
    store.count(counts)
    addOwnFields(to: &head, outcome, asked.key, isSeed: variant.record.isSeed)
    if case .atOnce = event { observe(.answered(target: asked.target, outcome)) }
    var response = CacheResponse(
      head: head, body: body, outcome: outcome, finalTarget: asked.target, contentChange: .unchanged,
      userInfo: variant.record.userInfo, storedAt: stored.responseTime,
      isMemoryOnly: variant.record.isMemoryOnly)
    response.record = variant.record
    return response
  }

  /// Reports that the body of an answer cannot be read.
  private var readFailed: @Sendable (CacheError, CacheCounts) -> Void {
    // Captures only this object, so that a hit allocates nothing for it.
    { [self] error, counts in
      observe(.storeFailed(operation: "read body", error))
      takeBack(counts)
    }
  }

  /// Undoes the counts of an answer whose body could not be read: the repeated request is counted instead.
  func takeBack(_ counts: CacheCounts) {
    store.count(
      CacheCounts(
        hits: -counts.hits, validated: -counts.validated, hitBytes: -counts.hitBytes))
  }

  /// Answers with the origin's response, which is being stored.
  ///
  /// - Parameter status: the origin's status, if `head` has a different one.
  func deliver(
    _ head: HTTPResponse, _ body: MessageBody, _ storage: StorageDecision, _ conversation: Conversation,
    stored: StoredResponse? = nil, status: Int? = nil
  ) -> CacheResponse {
    let exchange = conversation.exchange
    store.count(CacheCounts(misses: 1))
    let change = exchange.contentChange(of: head, receivedAt: configuration.clock.now)
    var head = head
    let outcome = CacheOutcome.forwarded(
      conversation.forward.reason, status: status ?? head.status.code, storage: storage, collapsed: false)
    finish(&head, outcome, exchange.key, target: exchange.target, stored: stored)
    var response = CacheResponse(
      head: head, body: body, outcome: outcome, finalTarget: exchange.target, contentChange: change)
    response.comparedRecord = exchange.comparedRecord
    return response
  }

  /// Answers with the origin's response, which is not stored.
  func pass(
    _ response: UpstreamResponse, _ storage: StorageDecision, _ conversation: Conversation
  ) -> CacheResponse {
    let exchange = conversation.exchange
    if case .doNotStore(let refusal) = storage {
      notStored(refusal, response.head, to: exchange.request, key: exchange.key)
    }
    let body = MessageBody(
      ForwardedBodySource(response.body) { [store] bytes in
        if bytes > 0 { store.count(CacheCounts(originBytes: bytes)) }
      })
    return deliver(response.head, body, storage, conversation)
  }

  /// Answers a follower with the leader's response.
  func deliverShared(
    _ stored: StoredResponse, _ body: MessageBody, _ forward: Exchange.Forward,
    _ exchange: Exchange, now: Timestamp
  ) -> CacheResponse {
    store.count(CacheCounts(hits: 1))
    var head = stored.head(age: Age.current(stored, now: now))
    let outcome = CacheOutcome.forwarded(
      forward.reason, status: head.status.code, storage: .store, collapsed: true)
    finish(&head, outcome, exchange.key, target: exchange.target, stored: stored)
    var response = CacheResponse(
      head: head, body: body, outcome: outcome, finalTarget: exchange.target,
      contentChange: exchange.contentChange(of: stored.head, receivedAt: now))
    response.comparedRecord = exchange.comparedRecord
    return response
  }

  /// The 504 response to a request that forbids asking the origin (RFC 9111 §5.2.1.7).
  func refusal(_ reason: UnsatisfiableReason, for exchange: Exchange) -> CacheResponse {
    var head = HTTPResponse(status: .gatewayTimeout, headerFields: [.contentLength: "0"])
    let outcome = CacheOutcome.unsatisfiable(reason)
    finish(&head, outcome, exchange.key, target: exchange.target)
    return CacheResponse(
      head: head, body: .empty, outcome: outcome, finalTarget: exchange.target)
  }

  /// Adds the cache's own fields to a head, and tells the observer.
  private func finish(
    _ head: inout HTTPResponse, _ outcome: CacheOutcome, _ key: CacheKey, target: String,
    stored: StoredResponse? = nil
  ) {
    addOwnFields(to: &head, outcome, key, stored: stored)
    observe(.answered(target: target, outcome))
  }

  func addOwnFields(
    to head: inout HTTPResponse, _ outcome: CacheOutcome, _ key: CacheKey, stored: StoredResponse? = nil,
    isSeed: Bool = false
  ) {
    if !head.headerFields.contains(.date) {
      // RFC 9110 §6.6.1: a cache that forwards a response without Date adds the time it was received.
      head.headerFields[.date] = configuration.clock.now.httpDate
    }
    if let name = configuration.cacheStatusName {
      addCacheStatus(name, outcome, key, stored: stored, isSeed: isSeed, to: &head)
    }
  }

  /// Adds this cache's entry to `Cache-Status` (RFC 9211), except for responses that the cache generated (§2).
  private func addCacheStatus(
    _ name: String, _ outcome: CacheOutcome, _ key: CacheKey, stored: StoredResponse?, isSeed: Bool,
    to head: inout HTTPResponse
  ) {
    if case .unsatisfiable = outcome { return }
    var status = CacheStatus(outcome: outcome, name: name)
    if let stored {
      let age = Age.current(stored, now: configuration.clock.now)
      status.ttl = stored.facts.freshnessLifetime.saturatingSubtract(age)
    }
    if isSeed { status.detail = status.detail.map { "\($0), seed" } ?? "seed" }
    if configuration.cacheStatusShowsKey { status.key = CacheStatus.key(key) }
    CacheStatus.appended(status, to: &head.headerFields)
  }
}

/// A request that is answered from the store.
struct AskedRequest {
  let request: HTTPRequest
  let features: RequestFeatures
  let key: CacheKey
  let target: String
  let now: Timestamp
}
