import HTTPCaching

extension CacheOutcome {
  /// The word for a log.
  var label: RequestOutcome {
    switch self {
    case .hit(_, _, allowance: nil): .hit
    case .hit(let age, let lifetime, _): lifetime > age ? .hit : .stale
    case .validated: .validated
    case .forwarded(_, _, _, collapsed: true): .collapsed
    case .forwarded(.miss(.policy), _, _, _): .pass
    case .forwarded(.miss, _, _, _): .miss
    case .forwarded(.validation, _, _, _): .refetched
    case .unsatisfiable: .unsatisfiable
    }
  }

  /// Why the response is not stored, judged by its head; nil for methods whose responses are never stored.
  var refusal: String? {
    guard case .forwarded(_, _, .doNotStore(let refusal), _) = self else { return nil }
    if case .method = refusal { return nil }
    if refusal == .policy { return nil }
    return refusal.section.isEmpty
      ? refusal.description : "\(refusal.description) (\(refusal.section))"
  }
}
