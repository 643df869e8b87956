import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes

/// Performs the actions of an `Exchange`: reads and writes the store, asks the upstream, waits for the
/// transfers of leaders.
struct ExchangeRunner: Sendable {
  let cache: HTTPCache
  let options: RequestOptions
  let upstream: any Upstream
  let body: MessageBody?
  /// Whether it runs to validate in the background.
  let isBackground: Bool
  /// The time limit for a head, from the origin or from a leader.
  private var limit: HeadLimit

  var clock: any CacheClock { cache.configuration.clock }
  var rules: CacheRules { cache.configuration.rules }

  /// Makes a runner, and starts the caller's time limit.
  init(
    cache: HTTPCache, options: RequestOptions, upstream: any Upstream, body: MessageBody?,
    isBackground: Bool = false
  ) {
    self.cache = cache
    self.options = options
    self.upstream = upstream
    self.body = body
    self.isBackground = isBackground
    limit = HeadLimit(
      timeout: options.timeout, defaultTimeout: upstream.defaultTimeout, clock: cache.configuration.clock)
  }

  func run(_ exchange: Exchange) async throws -> CacheResponse {
    var exchange = exchange
    await cache.retryFailedChanges()
    switch exchange.start() {
    case .lookUp: return try await lookUp(&exchange, mayWait: !isBackground)
    case .forward(let forward): return try await ask(forward, &exchange, [], flight: nil)
    case .refuse(let reason): return cache.refusal(reason, for: exchange)
    }
  }

  /// Validates a stored response in the background (RFC 5861 §3), unless another request does so already.
  func validate(_ exchange: Exchange) async throws {
    var exchange = exchange
    guard case .lookUp = exchange.start() else { return }
    guard let variants = cache.variants(for: exchange) else { return }
    guard
      case .forward(let forward) = cache.look(among: variants, for: &exchange, now: clock.now),
      case .lead(let flight) = cache.join(exchange.key)
    else { return }
    cache.observe(.validatingInBackground(exchange.key))
    let response = try await ask(forward, &exchange, variants, flight: flight)
    while try await response.body.source.next() != nil {}
  }

  // MARK: Looking

  private func lookUp(_ exchange: inout Exchange, mayWait: Bool) async throws -> CacheResponse {
    var read = cache.variants(for: exchange)
    var variants = read ?? []
    while true {
      let now = clock.now
      let action =
        read == nil
        ? exchange.lookUpFailed()
        : cache.look(among: variants, for: &exchange, now: now)
      switch action {
      case .answer(let answer, let validates):
        if let response = await cache.readableAnswer(answer, variants[answer.index], exchange, now: now) {
          if validates { cache.validateInBackground(exchange, options: options, via: upstream) }
          return response
        }
        // The body is gone or damaged: treat this variant as not stored.
        variants.remove(at: answer.index)
      case .forward(let forward):
        if try await hasKeptMore(for: exchange) {
          read = cache.variants(for: exchange)
          variants = read ?? []
          continue
        }
        guard forward.canLead, mayWait else {
          return try await ask(forward, &exchange, variants, flight: nil)
        }
        return try await coalesce(forward, &exchange, variants)
      case .refuse(let reason): return cache.refusal(reason, for: exchange)
      }
    }
  }

  /// Waits for a transfer of this target that all its readers have left: what it keeps continues the body,
  /// and the store accepts no continuation of an earlier part.
  ///
  /// - Returns: whether a transfer has ended meanwhile, so that the store must be read again.
  private func hasKeptMore(for exchange: Exchange) async throws -> Bool {
    guard let transfer = cache.running.abandoned(exchange.key.target) else { return false }
    let left = limit.left(at: clock.uptime) ?? Self.keepingLimit
    return try await transfer.ended(within: min(left, Self.keepingLimit))
  }

  /// The longest time to wait for the store to keep the first bytes of a body. A source that ignores its
  /// cancellation must not hold up later requests.
  private static let keepingLimit = Duration.seconds(5)

  // MARK: Waiting for a leader

  private func coalesce(
    _ forward: Exchange.Forward, _ exchange: inout Exchange, _ variants: [StoredVariant]
  ) async throws -> CacheResponse {
    let news: CoalescerNews
    switch cache.join(exchange.key) {
    case .lead(let flight): return try await ask(forward, &exchange, variants, flight: flight)
    case .goAlone: return try await ask(forward, &exchange, variants, flight: nil)
    case .share(let shared): news = .share(shared)
    case .wait(let flight):
      news = try await cache.coalescing.news(
        of: exchange.key, flight: flight, within: limit.left(at: clock.uptime))
      var runner = self
      runner.limit.hasWaited = true
      return try await runner.go(on: news, forward, &exchange, variants)
    }
    return try await go(on: news, forward, &exchange, variants)
  }

  private func go(
    on news: CoalescerNews, _ forward: Exchange.Forward, _ exchange: inout Exchange,
    _ variants: [StoredVariant]
  ) async throws -> CacheResponse {
    switch news {
    case .joinAgain: return try await coalesce(forward, &exchange, variants)
    case .share(let shared):
      guard exchange.mayShare(shared.response, now: clock.now) else {
        return try await ask(forward, &exchange, variants, flight: nil)
      }
      // A transfer that has ended, or broke off before this request got a byte, is ignored.
      guard let body = try await shared.makeBody(startingWithin: limit.left(at: clock.uptime), clock) else {
        return try await lookUp(&exchange, mayWait: false)
      }
      return cache.deliverShared(shared.response, body, forward, exchange, now: clock.now)
    case .timedOut:
      let error = UpstreamError(.timeout, "another request for the same resource got no answer in time")
      cache.observe(.upstreamFailed(target: exchange.target, error))
      return try await fail(error, exchange, variants)
    case .lookAgain: return try await lookUp(&exchange, mayWait: false)
    case .lead(let flight): return try await ask(forward, &exchange, variants, flight: flight)
    case .goAlone: return try await ask(forward, &exchange, variants, flight: nil)
    case .failed(let error): return try await fail(error, exchange, variants)
    case .serverError(let status):
      if let stored = await storedAnswer(exchange, variants, after: { $0.failed(status: status, now: $1) }) {
        return stored
      }
      return try await ask(forward, &exchange, variants, flight: nil)
    }
  }

  // MARK: Asking the origin

  private func ask(
    _ forward: Exchange.Forward, _ exchange: inout Exchange, _ variants: [StoredVariant],
    flight: FlightHold?
  ) async throws -> CacheResponse {
    var forward = forward
    while true {
      let requestTime = clock.now
      if let reason = cache.offlineReason {
        let error = cache.notAsked(exchange.target, reason)
        flight?.failed(error, isOwnLimit: false)
        return try await fail(error, exchange, variants)
      }
      forward.ticket = cache.store.ticket()
      forward.wipeTicket = cache.wipes.ticket()
      let response: UpstreamResponse
      do throws(UpstreamError) {
        response = try await upstream.send(
          UpstreamRequest(
            head: forward.request, body: exchange.content?.makeBody() ?? body,
            timeout: try limit.forUpstream(at: clock.uptime), priority: options.priority,
            context: options.context, onInterim: options.onInterim))
      } catch {
        cache.observe(.upstreamFailed(target: exchange.target, error))
        flight?.failed(error, isOwnLimit: limit.isCause(of: error, at: clock.uptime))
        return try await fail(error, exchange, variants)
      }
      let clearsSite = ClearSiteData.clearsCache(
        response.head, target: exchange.key.target, rules: rules)
      // Open what a 304 confirms before it can be removed.
      let isConfirming = response.head.status.code == 304 && !forward.validating.isEmpty
      if clearsSite, !isConfirming {
        await cache.clearSite(of: exchange.key)
        exchange.siteCleared()
      }
      switch exchange.received(
        response.head, requestTime: requestTime, responseTime: clock.now,
        isDecoded: response.isContentDecoded, refusal: response.storageRefusal)
      {
      case .forwardAgain(let again):
        response.body.source.cancel()
        if clearsSite { await cache.clearSite(of: exchange.key) }
        guard exchange.isRepeatable else {
          flight?.release()
          throw UpstreamError(.protocol, "the origin answered 304 to what is not stored")
        }
        forward = again
      case .answerStale:
        let status = response.head.status.code
        if let stale = await storedAnswer(exchange, variants, after: { $0.failed(status: status, now: $1) }) {
          response.body.source.cancel()
          flight?.serverError(status)
          return stale
        }
        flight?.release()
        return cache.pass(response, .doNotStore(.storeFailed), forward, exchange)
      case .freshen(let indices, let answer):
        let fresh = await freshened(indices, answer, forward, exchange, variants)
        if clearsSite { await cache.clearSite(of: exchange.key) }
        if let fresh {
          flight?.lookAgain()
          return fresh
        }
        forward = exchange.withoutCondition()
      case .combine(let combination):
        if let combined = await combine(
          combination, response, forward, exchange, variants, flight)
        {
          return combined
        }
        forward = exchange.withoutCondition()
      case .deliver(let delivery):
        return await deliver(response, delivery, forward, exchange, variants, flight)
      }
    }
  }

  private func fail(
    _ error: UpstreamError, _ exchange: Exchange, _ variants: [StoredVariant]
  ) async throws -> CacheResponse {
    if let stored = await storedAnswer(exchange, variants, after: { $0.failed(error, now: $1) }) {
      return stored
    }
    throw error
  }

  /// The answer from the store after the origin failed. Reads the store again, because it may have changed
  /// since the first look.
  private func storedAnswer(
    _ exchange: Exchange, _ variants: [StoredVariant],
    after failure: (Exchange, Timestamp) -> Exchange.FailureAction
  ) async -> CacheResponse? {
    let now = clock.now
    var (exchange, variants) = (exchange, variants)
    if exchange.hasLooked, let found = cache.variants(for: exchange) {
      variants = found
      if case .answer(let answer, _) = cache.look(among: found, for: &exchange, now: now),
        let response = await cache.readableAnswer(answer, found[answer.index], exchange, now: now)
      {
        return response
      }
    }
    guard case .answerStale(let answer) = failure(exchange, now) else { return nil }
    return await cache.readableAnswer(answer, variants[answer.index], exchange, now: now)
  }

  private func deliver(
    _ response: UpstreamResponse, _ delivery: Exchange.Delivery, _ forward: Exchange.Forward,
    _ exchange: Exchange, _ variants: [StoredVariant], _ flight: FlightHold?
  ) async -> CacheResponse {
    await apply(delivery.updates, forward, exchange, variants)
    let forward = await change(delivery, response, forward, exchange)
    switch delivery.storage {
    case .doNotStore(let refusal):
      flight?.release(isUnshareable: true)
      return cache.pass(response, .doNotStore(refusal), forward, exchange)
    case .store(let stored):
      let terms: StoringTerms
      switch await decision(on: stored, exchange) {
      case .store(let decided): terms = decided
      case .refuse(let refusal):
        flight?.release(isUnshareable: true)
        await apply(
          exchange.superseded(by: response.head, .doNotStore(refusal)), forward, exchange, variants)
        return cache.pass(response, .doNotStore(refusal), forward, exchange)
      }
      do throws(CacheError) {
        return try await store(terms, response, forward, exchange, variants, flight)
      } catch {
        if terms.isMemoryOnly, error.code == .invalidRequest {
          flight?.release(isUnshareable: true)
          await apply(
            exchange.superseded(by: response.head, .doNotStore(.memoryOnly)), forward, exchange, variants)
          return cache.pass(response, .doNotStore(.memoryOnly), forward, exchange)
        }
        flight?.release()
        if error.code != .tooLarge, error.code != .notAdmitted {
          cache.observe(.storeFailed(operation: "store", error))
        }
        return cache.pass(response, .doNotStore(cache.refusal(of: error)), forward, exchange)
      }
    }
  }

  /// Starts to store the response; the caller and the followers read it meanwhile.
  private func store(
    _ terms: StoringTerms, _ response: UpstreamResponse, _ forward: Exchange.Forward,
    _ exchange: Exchange, _ variants: [StoredVariant], _ flight: FlightHold?
  ) async throws(CacheError) -> CacheResponse {
    let stored = terms.response
    let length = response.head.status.hasNoContent ? 0 : response.body.length
    let part = PartialContent.part(of: response.head)
    let key = await cache.storageKey(for: exchange, stored, isMemoryOnly: terms.isMemoryOnly)
    let record = CacheRecord(
      key: key, response: stored, bodyLength: part == nil ? length : part?.length,
      storedRanges: part.map { [$0.range] }, groups: CacheGroups.names(of: response.head),
      userInfo: terms.userInfo, isPinned: terms.isPinned, isMemoryOnly: terms.isMemoryOnly,
      isResumable: PartialContent.isResumable(stored), ticket: forward.ticket(for: key, exchange.key))
    let writer = try await cache.store.write(record, variantLimit: rules.variantLimit)
    // A part cannot be shared with followers.
    if part != nil { flight?.release(isUnshareable: true) }
    var outdated = exchange.outdated(by: stored).map { variants[$0].record }
    if key != exchange.key, part == nil {
      outdated += variants.map(\.record).filter { $0.key == exchange.key }
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
          record, askedFor: part?.range, of: exchange.request, outdated: outdated)
        await cache.restorePointer(
          to: key, from: exchange.key, alias: alias, stored, isPinned: terms.isPinned,
          isMemoryOnly: terms.isMemoryOnly)
      },
      onEnd: cache.transferEnd(
        of: response.head, to: exchange.request, key: exchange.key, storedAs: key,
        isConfidential: hook != nil,
        flight))
    guard let body = transfer.makeBody() else {
      throw CacheError(.closed, "the transfer ended before it began", key: exchange.key)
    }
    await cache.begin(transfer, for: exchange.key, storedAs: key, forward)
    flight?.share(SharedTransfer(response: stored, transfer: transfer, groups: record.groups))
    transfer.start()
    if length == 0 { await transfer.ended() }
    return cache.deliver(response.head, body, .store, forward, exchange, stored: stored)
  }
}
