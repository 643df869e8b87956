import HTTPCacheSemantics
import HTTPTypes

extension Exchange {
  /// The updates that a response to HEAD makes to each stored response to GET that could have been chosen for
  /// it (RFC 9111 §4.3.5).
  func headFreshening(
    _ response: ReceivedResponse, refusal: StorageRefusal?
  ) -> [RecordUpdate] {
    guard request.method == .head, response.head.status.code == 200 else { return [] }
    return matching.compactMap { index in
      switch Freshening.updatedByHead(
        candidates[index], with: response, rules: rules, validating: request, digest: digest)
      {
      // Nothing of the answer to a request with `no-store` is stored (RFC 9111 §5.2.1.5).
      case .update where directives.noStore: nil
      case .update(let stored) where refusal == nil:
        RecordUpdate(index: index, response: keyed(stored), isFreshening: true)
      case .update: invalidated(index)
      case .invalidate: invalidated(index)
      case .unrelated: nil
      }
    }
  }

  /// The stored response to invalidate: the origin sent a new response that cannot replace it, so the stored
  /// one must not be used again without validation.
  ///
  /// A response that the origin says is gone must not answer either, even if nothing of the new answer is
  /// stored. A status that says neither that the resource changed nor that it is gone leaves the stored response as it
  /// is: it still answers when the origin cannot be reached.
  func superseded(
    by response: HTTPResponse, _ storage: Result<StoredResponse, StorageRefusal>
  ) -> [RecordUpdate] {
    guard case .failure(let refusal) = storage else { return [] }
    let status = response.status.code
    if policy != .bypass, requestMiss == nil, Self.isGone(status) { return matching.map(invalidated) }
    guard request.method == .get || request.method == .query, Self.isChanged(status) else { return [] }
    switch refusal {
    // A part that the store does not take leaves the other octets of its representation usable.
    case .tooLarge where status == 206, .notAdmitted where status == 206: return []
    case .responseNoStore, .noStoreDespiteOverride, .privateInShared, .notCacheable, .neverReusable, .varyAny,
      .authorized,
      .setCookie, .varySecret, .malformed, .override, .upstream, .hook, .hookFailed, .hookTimedOut,
      .memoryOnly, .tooLarge, .notAdmitted, .wiped:
      return matching.filter { $0 == matched || part($0) != nil }.map(invalidated)
    case .method, .interim, .statusNotUnderstood, .statusNotStored, .requestNoStore, .redirectToItself,
      .partialContent,
      .content, .clearsSite, .insteadOfStored, .digestMismatch, .policy, .credentials, .clientError,
      .superseded, .incomplete,
      .storeFailed:
      return []
    }
  }

  /// Whether the origin says that the resource is gone, and the rules remove its stored responses.
  func isGone(_ response: HTTPResponse) -> Bool {
    rules.removesGone && policy != .bypass && requestMiss == nil
      && Self.isGone(response.status.code)
  }

  /// Whether a status says that the resource has another representation now, or another place for good. An answer about
  /// the request (any other 4xx), a redirect for now (302, 303, 307), a 5xx and a 304 do not.
  static func isChanged(_ status: Int) -> Bool {
    switch status {
    case 200..<300, 300, 301, 308: true
    default: isGone(status)
    }
  }

  /// 404 and 410 (RFC 9110 §15.5.5, §15.5.11).
  static func isGone(_ status: Int) -> Bool { status == 404 || status == 410 }

  /// How a response from the origin compares with the response stored for the request before.
  func contentChange(of response: HTTPResponse, receivedAt time: Timestamp) -> ContentChange {
    guard hasLooked else { return .unknown }
    if response.status.code == 304 { return .unchanged }
    if let index = matched ?? matching.first {
      return ContentChange.between(candidates[index], and: response, receivedAt: time)
    }
    let isKnown = candidates.contains {
      ContentChange.between($0, and: response, receivedAt: time) == .unchanged
    }
    return isKnown ? .unchanged : .firstSeen
  }

  private func invalidated(_ index: Int) -> RecordUpdate {
    RecordUpdate(index: index, response: candidates[index].marked(as: .invalidated))
  }
}

extension Exchange {
  /// Handles a 304 to the exchange's own condition (RFC 9111 §4.3.4): it freshens the matching candidates,
  /// and one of them answers. If its strong entity tag names a candidate that does not match, that candidate
  /// answers unchanged.
  mutating func notModified(
    _ response: ReceivedResponse, _ forward: Forward, refusal: StorageRefusal?
  ) -> ResponseAction {
    let offered = forward.validating
    let decision = Freshening.decide(
      notModified: response.head, candidates: offered.map { candidates[$0] },
      mismatched: Set(offered.indices.filter { !matches(offered[$0]) }))
    let (confirmed, answering): ([Int], Int)
    switch decision {
    case .noMatch: return .forwardAgain(withoutCondition())
    case .freshen(let positions):
      guard let first = positions.first else { return .forwardAgain(withoutCondition()) }
      (confirmed, answering) = (positions.map { offered[$0] }, offered[first])
    case .reuse(let position): (confirmed, answering) = ([], offered[position])
    }
    let reason = validationReason(forward, of: answering, at: response.responseTime)
    let update = { [rules, request, digest] (candidate: StoredResponse) in
      Freshening.update(
        of: candidate, with: response, rules: rules, validating: request, digest: digest)
    }
    let answered = update(candidates[answering])
    let answer = keyed(answered.answer)
    var written: [Int] = []
    for index in confirmed {
      let updated = index == answering ? answered.stored : update(candidates[index]).stored
      // Nothing of the answer to a request with `no-store` is stored (RFC 9111 §5.2.1.5).
      if directives.noStore, !updated.isInvalidated { continue }
      candidates[index] =
        refusal == nil ? keyed(updated) : keyed(candidates[index].marked(as: .invalidated))
      written.append(index)
    }
    // A later failure may only fall back to a candidate that matches.
    if !confirmed.isEmpty { selected = answering }
    let age = Age.current(answer, now: response.responseTime)
    return .freshen(
      written,
      StoredAnswer(
        index: answering, stored: answer, age: age,
        outcome: .validated(reason, age: .seconds(age), lifetime: .seconds(answer.facts.freshnessLifetime))))
  }

  /// Why the candidate was validated, computed with its age before the 304.
  private func validationReason(
    _ forward: Forward, of index: Int, at time: Timestamp
  ) -> ValidationReason {
    switch forward.reason {
    case .validation(let reason): return reason
    case .miss(.variantMismatch(let names)): return .variantMismatch(names)
    case .miss:
      let stored = candidates[index]
      let age = Age.current(stored, now: time)
      return .stale(age: .seconds(age), lifetime: .seconds(stored.freshnessLifetime(atAge: age)))
    }
  }
}
