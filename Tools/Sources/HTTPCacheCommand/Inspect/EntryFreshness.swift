import HTTPCacheSemantics
import HTTPCaching

/// The freshness of a stored response now, for listings.
enum EntryFreshness: Equatable {
  /// Fresh for this many more seconds.
  case fresh(left: Int64)
  /// Seconds since it became stale.
  case stale(since: Int64)
  /// `no-cache`: validated before each use (RFC 9111 §5.2.2.4).
  case alwaysValidated
  /// Marked by a purge or an unsafe request (RFC 9111 §4.4).
  case invalidated

  /// Judges a stored response (RFC 9111 §4.2).
  init(_ response: StoredResponse, now: Timestamp) {
    let facts = response.facts
    let left = facts.freshnessLifetime - Age.current(response, now: now)
    if response.isInvalidated {
      self = .invalidated
    } else if facts.directives.contains(.noCache) {
      self = .alwaysValidated
    } else if left > 0 {
      self = .fresh(left: left)
    } else {
      self = .stale(since: -left)
    }
  }

  /// Whether the response may be used without asking the origin.
  var isFresh: Bool { if case .fresh = self { true } else { false } }

  /// A few words.
  var text: String {
    switch self {
    case .fresh(let left): "fresh for \(HumanText.duration(left))"
    case .stale(let since): HumanText.staleness(since)
    case .alwaysValidated: "always validated"
    case .invalidated: "invalidated"
    }
  }

  /// The order in listings: the response that stays fresh longest is last.
  var order: Int64 {
    switch self {
    case .fresh(let left): left
    case .stale(let since): -since
    case .alwaysValidated: 0
    case .invalidated: .min
    }
  }
}
