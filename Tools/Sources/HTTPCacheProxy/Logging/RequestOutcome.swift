import HTTPCaching

/// How a request ended: one word in logs, filters and figures.
public enum RequestOutcome: String, Sendable, CaseIterable {
  case hit
  case stale
  /// The origin confirmed the stored response.
  case validated
  /// The origin sent another response than the stored one.
  case refetched
  case miss
  /// The tier of the fleet answered.
  case shared
  /// The request waited for an equal request.
  case collapsed
  /// The request went around the cache.
  case pass
  case unsatisfiable
  case tunnel
  /// The proxy answered as the last recipient.
  case own
  case purge
  case cancelled
  case refused
  case badRequest = "bad-request"
  case loop
  case noRoute = "no-route"
  case error
  case unreachable = "error-unreachable"
  case timeout = "error-timeout"
  case tls = "error-tls"
  case cancelledExchange = "error-cancelled"
  case `protocol` = "error-protocol"

  private static let abortedSuffix = "-aborted"

  /// The word for a response that broke off on its way to the client.
  var aborted: String { rawValue + Self.abortedSuffix }

  /// Whether the log can have a word.
  public static func isKnown(_ word: some StringProtocol) -> Bool {
    let name = word.hasSuffix(abortedSuffix) ? word.dropLast(abortedSuffix.count) : word[...]
    return RequestOutcome(rawValue: String(name)) != nil
  }
}

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
    case .shared: .shared
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
