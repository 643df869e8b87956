import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes

/// Performs the actions of an `Exchange`: reads and writes the store, asks the upstream, waits for the
/// transfers of leaders.
struct ExchangeRunner: Sendable {
  let engine: Engine
  let options: RequestOptions
  let upstream: any Upstream
  let body: MessageBody?
  /// Whether it runs to validate in the background.
  let isBackground: Bool
  /// The time limit for a head, from the origin or from a leader.
  private(set) var limit: HeadLimit

  var clock: any CacheClock { engine.clock }
  var shelf: Shelf { engine.shelf }
  var lookup: Lookup { engine.lookup }

  /// Makes a runner, and starts the caller's time limit.
  init(
    engine: Engine, options: RequestOptions, upstream: any Upstream, body: MessageBody?,
    isBackground: Bool = false
  ) {
    self.engine = engine
    self.options = options
    self.upstream = upstream
    self.body = body
    self.isBackground = isBackground
    limit = HeadLimit(
      timeout: options.timeout, defaultTimeout: upstream.defaultTimeout, clock: engine.clock)
  }

  func run(_ exchange: Exchange) async throws -> CacheResponse {
    var exchange = exchange
    // An asynchronous function takes hundreds of instructions even if it waits for nothing.
    if !shelf.failedChanges.isEmpty { await shelf.retryFailedChanges() }
    switch exchange.start() {
    case .lookUp: return try await lookUp(&exchange, mayWait: !isBackground)
    case .forward(let forward):
      return try await ask(Conversation(exchange: exchange, variants: [], forward: forward))
    case .refuse(let reason): return refusal(reason, for: exchange)
    }
  }

  /// Validates a stored response in the background (RFC 5861 §3), unless another request does so already.
  func validate(_ exchange: Exchange) async throws {
    var exchange = exchange
    guard case .lookUp = exchange.start() else { return }
    guard let variants = lookup.variants(for: exchange) else { return }
    guard
      case .forward(let forward) = lookup.look(among: variants, for: &exchange, now: clock.now),
      case .lead(let flight) = engine.join(exchange.key)
    else { return }
    engine.observers.tell(.validatingInBackground(exchange.key))
    let response = try await ask(
      Conversation(exchange: exchange, variants: variants, forward: forward, flight: flight))
    let start = clock.uptime
    var received: Int64 = 0
    while let bytes = try await response.body.source.next() {
      received += Int64(bytes.count)
      guard BackgroundPace.isTooSlow(received, after: clock.uptime - start) else { continue }
      response.body.source.cancel()
      let error = UpstreamError(.timeout, "the body of a validation in the background comes too slowly")
      engine.observers.tell(.upstreamFailed(target: exchange.target, error))
      throw error
    }
  }

  /// Validates a stale response after its use (RFC 5861 §3): one validation per key, in a bounded number.
  private func validateInBackground(_ exchange: Exchange) {
    if let reason = engine.offlineReason {
      _ = engine.notAsked(exchange.target, reason)
      return
    }
    var options = options
    options.onInterim = nil
    let validation = Exchange(
      PresentedRequest(
        exchange.request.unconditional(keepsRange: exchange.isPartSelected), key: exchange.key,
        target: exchange.target, policy: .revalidate, rules: exchange.rules,
        hasBody: exchange.content?.hasBody ?? false, bodyForms: exchange.bodyForms,
        digest: exchange.digest, content: exchange.content))
    let runner = ExchangeRunner(
      engine: engine, options: options, upstream: options.backgroundUpstream ?? upstream, body: nil,
      isBackground: true)
    engine.background.begin(asking: exchange.key.origin) {
      do {
        try await runner.validate(validation)
      } catch {
        // The observer was told of the upstream's failure when it happened; the stored response is unchanged.
      }
    }
  }

  // MARK: Looking

  func lookUp(_ exchange: inout Exchange, mayWait: Bool) async throws -> CacheResponse {
    var read = lookup.variants(for: exchange)
    var variants = read ?? []
    while true {
      let now = clock.now
      let action =
        read == nil
        ? exchange.lookUpFailed()
        : lookup.look(among: variants, for: &exchange, now: now)
      switch action {
      case .answer(let answer, let validates):
        if let response = await engine.answers.readableAnswer(
          answer, from: variants[answer.index], to: exchange.asked(at: now))
        {
          // Nothing of the answer to a request with `no-store` is stored (RFC 9111 §5.2.1.5).
          if validates, !exchange.directives.noStore { validateInBackground(exchange) }
          return response
        }
        // The body is gone or damaged: treat this variant as not stored.
        variants.remove(at: answer.index)
      case .forward(let forward):
        if mayWait, try await hasKeptMore(for: exchange) {
          read = lookup.variants(for: exchange)
          variants = read ?? []
          continue
        }
        var conversation = Conversation(exchange: exchange, variants: variants, forward: forward)
        guard forward.canLead, mayWait else { return try await ask(conversation) }
        let news = engine.join(exchange.key)
        guard case .lead(let flight) = news else { return try await go(on: news, conversation) }
        conversation.flight = flight
        return try await ask(conversation)
      case .refuse(let reason): return refusal(reason, for: exchange)
      }
    }
  }

  /// Waits for a transfer of this target that all its readers have left: what it keeps continues the body,
  /// and the store accepts no continuation of an earlier part.
  ///
  /// - Returns: whether a transfer has ended meanwhile, so that the store must be read again.
  private func hasKeptMore(for exchange: Exchange) async throws -> Bool {
    guard let transfer = shelf.running.abandoned(exchange.key.target) else { return false }
    let left = limit.left(at: clock.uptime) ?? Self.keepingLimit
    return try await transfer.ended(within: min(left, Self.keepingLimit))
  }

  /// The longest time to wait for the store to keep the first bytes of a body. A source that ignores its
  /// cancellation must not hold up later requests.
  static let keepingLimit = Duration.seconds(5)

  // MARK: Waiting for a leader

  private func go(on news: CoalescerNews, _ conversation: Conversation) async throws -> CacheResponse {
    var conversation = conversation
    switch news {
    case .wait(let flight):
      let news = try await engine.coalescing.news(
        of: conversation.exchange.key, flight: flight, within: limit.left(at: clock.uptime))
      var runner = self
      runner.limit.hasWaited = true
      return try await runner.go(on: news, conversation)
    case .joinAgain: return try await go(on: engine.join(conversation.exchange.key), conversation)
    case .share(let shared): return try await follow(shared, conversation)
    case .timedOut:
      let error = UpstreamError(.timeout, "another request for the same resource got no answer in time")
      engine.observers.tell(.upstreamFailed(target: conversation.exchange.target, error))
      return try await fail(error, conversation)
    case .lookAgain: return try await lookUp(&conversation.exchange, mayWait: false)
    case .lead(let flight):
      conversation.flight = flight
      return try await ask(conversation)
    case .goAlone: return try await ask(conversation)
    case .failed(let error): return try await fail(error, conversation)
    case .serverError(let status):
      if let stored = await storedAnswer(conversation, after: { $0.failed(status: status, now: $1) }) {
        return stored
      }
      return try await ask(conversation)
    }
  }

  // MARK: Answering after a failure

  func fail(_ error: UpstreamError, _ conversation: Conversation) async throws -> CacheResponse {
    if let stored = await storedAnswer(conversation, after: { $0.failed(error, now: $1) }) { return stored }
    throw error
  }

  /// The answer from the store after the origin failed. Reads the store again, because it may have changed
  /// since the first look.
  func storedAnswer(
    _ conversation: Conversation, after failure: (Exchange, Timestamp) -> Exchange.StoredAnswer?
  ) async -> CacheResponse? {
    let now = clock.now
    var (exchange, variants) = (conversation.exchange, conversation.variants)
    if exchange.hasLooked, let found = lookup.variants(for: exchange) {
      variants = found
      if case .answer(let answer, _) = lookup.look(among: found, for: &exchange, now: now),
        let response = await engine.answers.readableAnswer(
          answer, from: found[answer.index], to: exchange.asked(at: now))
      {
        return response
      }
    }
    guard let answer = failure(exchange, now) else { return nil }
    return await engine.answers.readableAnswer(
      answer, from: variants[answer.index], to: exchange.asked(at: now))
  }
}

/// Followers of a leader whose response is arriving.
extension ExchangeRunner {
  /// Answers with the leader's response (RFC 9111 §4). If the rules ask for a validation first, asks the origin with a
  /// condition, so that the origin sends the body once for all followers.
  func follow(_ shared: FlightTransfer, _ conversation: Conversation) async throws -> CacheResponse {
    var exchange = conversation.exchange
    if exchange.mayShare(shared.response, now: clock.now) {
      // A transfer that has ended, or broke off before this request got a byte, is ignored.
      guard let body = try await shared.makeBody(startingWithin: limit.left(at: clock.uptime)) else {
        return try await lookUp(&exchange, mayWait: false)
      }
      return answer(conversation, with: shared, body, now: clock.now)
    }
    guard let forward = exchange.validation(of: shared.response, now: clock.now) else {
      return try await ask(conversation)
    }
    return try await validate(
      shared.withReader(), by: Conversation(exchange: exchange, variants: [], forward: forward), conversation)
  }

  /// Asks the origin whether the leader's response may be used.
  ///
  /// - Parameters:
  ///   - shared: the response, with the reader of this follower.
  ///   - validation: the conditional request. Its candidate is the leader's response, which is not stored yet.
  ///   - conversation: the follower's request, which knows nothing of the leader's response.
  private func validate(
    _ shared: FlightTransfer, by validation: Conversation, _ conversation: Conversation
  ) async throws -> CacheResponse {
    var (validation, conversation) = (validation, conversation)
    let requestTime = clock.now
    let response: UpstreamResponse
    do throws(UpstreamError) {
      response = try await send(&validation)
    } catch {
      return try await fail(error, conversation)
    }
    conversation.forward = validation.forward
    conversation.ticket = validation.ticket
    (conversation.fetch, conversation.tierAge) = (validation.fetch, validation.tierAge)
    guard response.head.status.code == 304 else {
      if let answer = try await act(on: response, in: &conversation, sentAt: requestTime) { return answer }
      return try await ask(conversation)
    }
    response.body.source.cancel()
    let key = conversation.exchange.key
    if conversation.exchange.clearsSite(response.head) { await shelf.clearSite(of: key) }
    guard
      case .freshen(_, let confirmed) = validation.exchange.received(
        ReceivedResponse(response.head, requestTime: requestTime, responseTime: clock.now),
        isDecoded: response.isContentDecoded, refusal: response.storageRefusal)
    else {
      conversation.forward = conversation.exchange.withoutCondition()
      return try await ask(conversation)
    }
    if validation.exchange.candidates.contains(where: \.isInvalidated) { await shelf.overtake(key) }
    guard let body = try await shared.makeBody(startingWithin: limit.left(at: clock.uptime)) else {
      return try await lookUp(&conversation.exchange, mayWait: false)
    }
    return answer(validation, confirmed, body)
  }
}
