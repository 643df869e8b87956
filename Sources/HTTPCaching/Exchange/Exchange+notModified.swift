import HTTPCacheSemantics
import HTTPTypes

extension Exchange {
  /// Handles a 304 to the exchange's own condition (RFC 9111 §4.3.4): it freshens the matching candidates,
  /// and one of them answers. If its strong entity tag names a candidate that does not match, that candidate
  /// answers unchanged.
  mutating func notModified(
    _ response: HTTPResponse, _ forward: Forward, requestTime: Timestamp, responseTime: Timestamp,
    refusal: StorageRefusal?
  ) -> ResponseAction {
    let offered = forward.validating
    let decision = Freshening.decide(
      notModified: response, candidates: offered.map { candidates[$0] },
      mismatched: Set(offered.indices.filter { !matches(offered[$0]) }))
    let (confirmed, answering): ([Int], Int)
    switch decision {
    case .noMatch: return .forwardAgain(withoutCondition())
    case .freshen(let positions):
      guard let first = positions.first else { return .forwardAgain(withoutCondition()) }
      (confirmed, answering) = (positions.map { offered[$0] }, offered[first])
    case .reuse(let position): (confirmed, answering) = ([], offered[position])
    }
    let reason = validationReason(forward, of: answering, at: responseTime)
    let update = { [rules, request, digest] (candidate: StoredResponse) in
      Freshening.update(
        of: candidate, with: ReceivedResponse(response, requestTime: requestTime, responseTime: responseTime),
        rules: rules, validating: request, digest: digest)
    }
    let answered = update(candidates[answering])
    let answer = keyed(answered.answer)
    var written: [Int] = []
    for index in confirmed {
      let updated = index == answering ? answered.stored : update(candidates[index]).stored
      // Nothing of the answer to a request with `no-store` is stored (RFC 9111 §5.2.1.5).
      if directives.noStore, !updated.isInvalidated { continue }
      candidates[index] =
        refusal == nil ? keyed(updated) : keyed(candidates[index].invalidated)
      written.append(index)
    }
    // A later failure may only fall back to a candidate that matches.
    if !confirmed.isEmpty { selected = answering }
    let age = Age.current(answer, now: responseTime)
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
      return .stale(
        age: .seconds(Age.current(stored, now: time)),
        lifetime: .seconds(stored.facts.freshnessLifetime))
    }
  }
}
