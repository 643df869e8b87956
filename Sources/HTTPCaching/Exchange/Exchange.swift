import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes

/// One request from start to end as a state machine: events in, actions out. It performs no action and never
/// waits; `ExchangeRunner` performs the actions.
struct Exchange: Sendable {
  let presented: PresentedRequest

  /// The stored responses for the key that this request may use.
  var candidates: [StoredResponse] = []
  /// The stored part of each candidate, nil for a complete one; empty if all are complete.
  private(set) var parts: [StoredPart?] = []
  /// The index of the candidate that the request selects.
  var selected: Int?
  /// The index of the candidate that the request matches; set even if the policy forbids its use.
  private(set) var matched: Int?
  /// The stored response that the origin's answer is compared with.
  var comparedRecord: CacheRecord?
  /// Whether the store was read, and its candidates are still stored.
  private(set) var hasLooked = false
  /// Why only the origin can answer, although its answer may update what is stored.
  private var obstacle: MissReason?
  /// Whether incomplete responses may be completed; false after a failed attempt.
  var mayComplete = true
  /// Whether `stale-while-revalidate` may be obeyed.
  var validatesInBackground = true
  /// Whether the answer is what is stored, of any age and without an `Age` field, whatever RFC 9111 §4 says.
  var takesAnyAge = false
  private(set) var forward: Forward?
  /// Whether the origin was asked for the rest of a part, and did not send it.
  private(set) var hasAskedForRest = false

  init(_ presented: PresentedRequest) { self.presented = presented }

  // MARK: Events

  /// The request arrived.
  mutating func start() -> StartAction {
    if policy == .bypass { return .forward(makeForward(.miss(.policy(policy)))) }
    guard let reason = requestMiss else { return .lookUp }
    if case .unsatisfiable(let refusal) = whenMissing(reason) { return .refuse(refusal) }
    // The answer to any HEAD freshens what is stored (RFC 9111 §4.3.5), unless it depends on content.
    if request.method == .head, contentMiss == nil {
      obstacle = reason
      return .lookUp
    }
    return .forward(makeForward(.miss(reason)))
  }

  /// The store answered.
  ///
  /// - Parameters:
  ///   - variants: most recent first.
  ///   - parts: the stored part of each variant; empty if all are complete.
  mutating func found(
    _ variants: [StoredResponse], parts: [StoredPart?] = [], now: Timestamp
  ) -> LookAction {
    candidates = variants
    self.parts = parts
    hasLooked = true
    selected = nil
    matched = nil
    if let obstacle { return .forward(makeForward(.miss(obstacle))) }
    if parts.isEmpty {
      return choose(
        Vary.select(among: variants, for: request, rules: rules, digest: digest), now: now)
    }
    let suitable = variants.indices.filter(isSuitable)
    var selection = Vary.select(
      among: suitable.map { variants[$0] }, for: request, rules: rules, digest: digest)
    if case .selected(let position) = selection { selection = .selected(suitable[position]) }
    let action = choose(selection, now: now)
    guard case .forward = action, let completion = completion() else { return action }
    return .forward(makeForward(.miss(.partial), completing: completion))
  }

  private mutating func choose(_ selection: VariantSelection, now: Timestamp) -> LookAction {
    switch selection {
    case .nothingStored: return missed(parts.isEmpty ? .absent : .partial)
    case .mismatch(let names): return missed(.variantMismatch(names))
    case .selected(let index):
      selected = index
      matched = index
      return decide(index, now: now)
    }
  }

  /// The store could not be read.
  mutating func lookUpFailed() -> LookAction {
    // An earlier look may have found candidates.
    forgetCandidates()
    return missed(.storeFailed)
  }

  /// The stored responses were removed: the origin asked to clear them.
  mutating func siteCleared() { forgetCandidates() }

  private mutating func forgetCandidates() {
    candidates = []
    parts = []
    selected = nil
    matched = nil
    hasLooked = false
  }

  /// The head of the origin's final response arrived.
  ///
  /// - Parameter refusal: the upstream's reason not to store it.
  mutating func received(
    _ response: ReceivedResponse, isDecoded: Bool, refusal: StorageRefusal? = nil
  ) -> ResponseAction {
    guard let forward else { return .deliver(Delivery(storage: .failure(.policy))) }
    let head = response.head
    let status = head.status.code
    if status == 304, !forward.validating.isEmpty {
      return notModified(response, forward, refusal: refusal)
    }
    if refusal == nil, let combination = combination(response, forward, isDecoded: isDecoded) {
      return .combine(combination)
    }
    if forward.completion != nil, Self.isAboutRange(status) {
      return .forwardAgain(withoutCondition())
    }
    let known = knownLength(of: head, isDecoded: isDecoded, receivedAt: response.responseTime)
    let range = forward.completion == nil ? nil : PartialContent.rangeOfWhole(head)
    if let text = range ?? known?.contradiction(of: head, receivedAt: response.responseTime) {
      return .contradictory(LengthContradiction(length: known?.length ?? 0).error(text))
    }
    if countsAsFailure(status), failed(status: status, now: response.responseTime) != nil {
      return .answerStale
    }
    let storage = Result { () throws(StorageRefusal) in
      try stored(response, isDecoded: isDecoded, refusal: refusal)
    }
    return .deliver(
      Delivery(
        storage: storage,
        invalidated: Invalidation.targets(request: request, response: head),
        invalidatedGroups: CacheGroups.invalidated(request: request, response: head),
        updates: headFreshening(response, refusal: refusal) + superseded(by: head, storage),
        isGone: isGone(head)))
  }

  /// The origin gave no usable answer. A failure to reach the origin is RFC 9111 §4.2.4's "disconnected"; a
  /// broken or untrusted answer counts as an error like 502.
  ///
  /// - Returns: the stale answer; nil if the request fails.
  func failed(_ error: UpstreamError, now: Timestamp) -> StoredAnswer? {
    switch error.kind {
    case .cancelled: nil
    case .unreachable, .timeout: fallback(.unreachable, now: now)
    case .tls, .protocol: fallback(.badGateway, now: now)
    }
  }

  /// The origin answered this request, or its leader's, with a status that counts as a failure.
  ///
  /// - Returns: the stale answer; nil if there is none.
  func failed(status: Int, now: Timestamp) -> StoredAnswer? { fallback(.status(status), now: now) }

  /// Whether a status counts as a failure, by HTTP or by this request's policy.
  private func countsAsFailure(_ status: Int) -> Bool {
    if rules.removesGone, Self.isGone(status) { return false }
    return (500...599).contains(status) || policy.countsAsFailure(status)
  }

  private func fallback(_ failure: FailureKind, now: Timestamp) -> StoredAnswer? {
    guard let index = selected,
      case .useStale(let allowance) = Reuse.afterFailure(
        stored: candidates[index], request: request, policy: policy,
        rules: rules, now: now, failure: failure)
    else { return nil }
    return answer(index, allowance: allowance, now: now)
  }

  /// Whether a response that a leader just received may answer this request too (RFC 9111 §4).
  func mayShare(_ received: StoredResponse, now: Timestamp) -> Bool {
    guard let stored = shareable(received) else { return false }
    let decision = Reuse.decide(
      stored: stored, request: request, directives: directives, policy: .standard, rules: rules,
      now: now)
    if case .fresh = decision { return true }
    return false
  }

  /// The request that asks the origin whether a response that a leader just received may answer this request too
  /// (RFC 9111 §4.3.1); nil if the response has no validator, or no validation would allow its use.
  mutating func validation(of received: StoredResponse, now: Timestamp) -> Forward? {
    guard let stored = shareable(received), Validation.hasValidator(stored),
      case .forward(let forward) = found([stored], now: now), forward.validating == [0]
    else { return nil }
    return forward
  }

  /// A leader's response as the rules of this request see it; nil if it is for other requests (RFC 9111 §4.1).
  private func shareable(_ received: StoredResponse) -> StoredResponse? {
    guard policy.mayShareTransfers, received.isIn(bodyForms), received.isKeyed(by: rules),
      let stored = received.seen(by: rules),
      Vary.select(among: [stored], for: request, rules: rules, digest: digest) == .selected(0)
    else { return nil }
    return stored
  }

  /// Matching variants that the new response replaces although its `Vary` differs. If they stayed, requests
  /// would always select them before the new response.
  func outdated(by stored: StoredResponse) -> [Int] {
    matching.filter { candidates[$0].nominated != stored.nominated }
  }

  /// Whether the request has the values that a candidate has for the fields that `Vary` names.
  func matches(_ index: Int) -> Bool {
    Vary.matches(candidates[index], request: request, rules: rules, digest: digest)
  }

  var matching: [Int] { candidates.indices.filter(matches) }

  mutating func makeForward(
    _ reason: ForwardReason, validating: [Int] = [], completing completion: Completion? = nil
  ) -> Forward {
    let head =
      if let completion {
        PartialContent.request(
          request, completing: candidates[completion.index], missing: completion.missing,
          length: part(completion.index)?.length)
      } else {
        Validation.request(
          request, validating: validating.map { candidates[$0] },
          matches: validating.allSatisfy(matches), keepsRange: isPartSelected, policy: policy)
      }
    let made = Forward(
      head, reason, validating: validating, completion: completion, canLead: canLead)
    forward = made
    return made
  }

  /// Whether the selected candidate is incomplete, but has what the request asks for.
  var isPartSelected: Bool { selected.map { part($0) != nil } ?? false }

  /// The request without the cache's condition or range, sent after an answer that confirms or completes no candidate.
  mutating func withoutCondition() -> Forward {
    if forward?.completion != nil { hasAskedForRest = true }
    return makeForward(forward?.reason ?? .miss(.absent))
  }

  /// Whether the request can be sent again: it has no content, or its content is in memory.
  var isRepeatable: Bool { !hasBody || content?.isRepeatable == true }

  /// Whether other requests may wait for this request's response, because this request has nothing special.
  private var canLead: Bool {
    guard request.method == .get, !hasBody, policy.mayShareTransfers,
      !directives.noStore
    else { return false }
    let fields = request.headerFields
    if rules.mode == .shared, fields.firstIndex(of: .authorization) != nil { return false }
    // `If-Range` without `Range` is no condition, and none of the features.
    return !features.contains(.range) && !features.contains(.conditions)
      && !features.contains(.originConditions) && fields.firstIndex(of: .ifRange) == nil
  }

  /// Marks a response whose key an override made from another target: it may only be used where the same
  /// overrides make the key.
  func keyed(_ stored: StoredResponse) -> StoredResponse {
    if key.target == target { return stored }
    var stored = stored
    stored.keyFingerprint = rules.keyFingerprint
    return stored
  }

  // MARK: Answers

  func answer(
    _ index: Int, allowance: StaleAllowance?, now: Timestamp
  ) -> StoredAnswer {
    let stored = candidates[index]
    let age = Age.current(stored, now: now)
    return StoredAnswer(
      index: index, stored: stored, age: takesAnyAge ? nil : age,
      outcome: .hit(
        age: .seconds(age), lifetime: .seconds(stored.freshnessLifetime(atAge: age)), allowance: allowance))
  }
}
