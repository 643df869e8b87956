import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes

/// The way to the origin by the tier of a fleet: answers with a response that another node published, as a cache on the
/// way does, or makes one node ask the origin for all.
struct SharedUpstream: Upstream {
  let fleet: Fleet
  let origin: any Upstream
  let question: SharedQuestion

  /// How often to look for the response that another node fetches.
  private static let poll = Duration.milliseconds(10)

  var defaultTimeout: Duration? { origin.defaultTimeout }

  private var clock: any CacheClock { fleet.clock }
  private var key: CacheKey { question.key }

  /// The answer of the tier, or of the origin.
  ///
  /// - Throws: `UpstreamError`; `timeout` if another node's fetch took all the time of the request.
  func send(_ request: UpstreamRequest) async throws(UpstreamError) -> UpstreamResponse {
    let end = (request.timeout ?? origin.defaultTimeout).map { clock.uptime + $0 }
    var turn = Turn()
    var overtaken: SharedPosition?
    waiting: while fleet.log.isUsable {
      do throws(SharedTierError) {
        if let answer = try await look(for: request, &turn) { return answer }
        guard question.isLed else { break waiting }
        switch try await lock(&turn, overtaking: overtaken) {
        case .acquired:
          // Another node may have published its response, and freed the lock, since the look-up.
          guard let answer = try await look(for: request, &turn) else { break waiting }
          if let token = turn.token { fleet.unlock(key, token: token, refusingFor: nil) }
          return answer
        case .refused:
          turn.isRefused = true
          break waiting
        case .held(let ticket):
          if ticket != overtaken, isOvertaken(since: ticket) {
            overtaken = ticket
            continue
          }
        }
      } catch {
        // The tier counts as absent for this request.
        break waiting
      }
      try await pause(until: end)
      turn.hasWaited = true
    }
    return try await fetch(request, until: end, turn)
  }

  /// The responses that a request has found, and the lock that it has taken, so far.
  struct Turn {
    var found: [SharedVariant] = []
    /// The token of the lock; nil if there is none.
    var token: String?
    /// The position in the log when the lock was taken.
    var ticket: SharedPosition?
    var hasWaited = false
    /// Whether another node has found that the response cannot be shared.
    var isRefused = false
  }

  // MARK: Looking

  private func look(for request: UpstreamRequest, _ turn: inout Turn) async throws(SharedTierError)
    -> UpstreamResponse?
  {
    let keys = question.keys
    let finding = try await find(keys)
    var variants = finding.variants.first?.filter { $0.record.key == key } ?? []
    var now = finding.now
    if keys.count > 1 {
      let records = finding.variants.map { $0.filter { !isOvertaken($0) }.map(\.record) }
      if let other = question.otherName(records) {
        let more = try await find([other.key])
        now = max(now, more.now)
        variants += (more.variants.first ?? []).filter {
          $0.record.key == other.key && other.holds($0.record)
        }
      }
    }
    let valid = variants.filter { !isOvertaken($0) }
    turn.found = valid
    guard let selected = question.answer(among: valid, serverTime: now, now: clock.now) else { return nil }
    return try await answer(selected.variant, selected.stored, to: request)
  }

  private func find(_ keys: [CacheKey]) async throws(SharedTierError) -> SharedFinding {
    try await fleet.ask("look up a response") { () async throws(SharedTierError) in
      try await fleet.tier.find(keys)
    }
  }

  private func isOvertaken(_ variant: SharedVariant) -> Bool {
    fleet.log.isOvertaken(variant.record, requestTarget: key.target, since: variant.ticket)
  }

  /// Whether a change has overtaken a fetch, whatever the groups of its response are.
  private func isOvertaken(since ticket: SharedPosition) -> Bool {
    fleet.log.isOvertaken(key, groups: nil, requestTarget: question.exchange.target, since: ticket)
  }

  // MARK: Answering

  /// Nil if the response cannot be read, or the request asks for several ranges of it.
  private func answer(
    _ variant: SharedVariant, _ stored: StoredResponse, to request: UpstreamRequest
  ) async throws(SharedTierError) -> UpstreamResponse? {
    let age = Age.current(stored, now: stored.responseTime)
    guard
      let plan = StoredAnswerPlan(
        request: request.head, features: RequestFeatures(request.head.headerFields), stored: stored,
        head: stored.head(age: age), length: variant.bodyLength, part: nil, now: stored.responseTime)
    else { return nil }
    let head: HTTPResponse
    let body: MessageBody
    switch plan {
    case .head(let planned): (head, body) = (planned, .empty)
    case .whole(let planned, let length):
      guard let source = try await source(of: variant, stored, 0..<length, request) else { return nil }
      (head, body) = (planned, MessageBody(source))
    case .range(let planned, let range):
      // The trailers describe the whole content, not a part of it (RFC 9530 §2).
      var stored = stored
      stored.trailers = [:]
      guard let source = try await source(of: variant, stored, range, request) else { return nil }
      (head, body) = (planned, MessageBody(source))
    case .parts: return nil
    }
    var response = UpstreamResponse(head: head, body: body, isContentDecoded: stored.isDecoded)
    response.tierAge = SharedAge(age: age, lifetime: stored.facts.freshnessLifetime)
    return response
  }

  private func source(
    of variant: SharedVariant, _ stored: StoredResponse, _ range: Range<Int64>, _ request: UpstreamRequest
  ) async throws(SharedTierError) -> (any BodySource)? {
    if let bytes = variant.inlineBody {
      let part = BodyBytes(bytes)[Int(clamping: range.lowerBound)..<Int(clamping: range.upperBound)]
      return BytesSource(part, trailers: stored.trailers)
    }
    guard let shared = variant.body, shared.length >= range.upperBound else { return nil }
    let source = SharedBodySource(
      shared, of: variant.record.key, range: range, stored: stored, fleet: fleet,
      rest: SharedBodySource.Rest(origin: origin, request: request, presented: question.exchange.request))
    // While no head was given, a body that has vanished is a miss.
    return try await source.begin() ? source : nil
  }

  // MARK: Fetching

  private func lock(
    _ turn: inout Turn, overtaking overtaken: SharedPosition?
  ) async throws(SharedTierError) -> SharedLock {
    let (token, ticket) = (SharedFetch.makeToken(), fleet.log.ticket)
    do throws(SharedTierError) {
      let lock = try await fleet.ask("lock") { () async throws(SharedTierError) in
        try await fleet.tier.lock(
          key, token: token, ticket: ticket, duration: SharedFetch.duration, overtaking: overtaken)
      }
      if lock == .acquired { (turn.token, turn.ticket) = (token, ticket) }
      return lock
    } catch {
      // The server may have taken the lock nevertheless, and other nodes would wait until it expires.
      fleet.unlock(key, token: token, refusingFor: nil)
      throw error
    }
  }

  /// Asks the origin, and publishes its response once it is stored, unless another node has found that it cannot be
  /// shared.
  private func fetch(
    _ request: UpstreamRequest, until end: Duration?, _ turn: Turn
  ) async throws(UpstreamError) -> UpstreamResponse {
    var fetch: SharedFetch?
    if let ticket = question.ticket {
      fetch = SharedFetch(
        RequestSort(question.exchange), token: turn.token, ticket: turn.ticket ?? fleet.log.ticket,
        found: turn.found, request: ticket, isForAll: !turn.isRefused, fleet: fleet)
    }
    var request = request
    if turn.hasWaited, let end {
      let rest = end - clock.uptime
      guard rest > .zero else { throw Self.timedOut }
      request.timeout = rest
    }
    var response = try await origin.send(request)
    fetch?.headArrived()
    response.fetch = fetch
    return response
  }

  private func pause(until end: Duration?) async throws(UpstreamError) {
    if let end, clock.uptime + Self.poll > end { throw Self.timedOut }
    do { try await clock.sleep(for: Self.poll) } catch {
      throw UpstreamError(.cancelled, "cancelled while another node asked the origin", cause: error)
    }
  }

  private static var timedOut: UpstreamError {
    UpstreamError(.timeout, "another node got no answer for the same resource in time")
  }
}
