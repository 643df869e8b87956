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
  /// The overrides of the server forbid its use.
  case forbidden

  /// Judges an entry as the cache with these rules does; as without overrides if the rules are for another kind of cache.
  init(_ record: CacheRecord, rules: CacheRules?, now: Timestamp) {
    guard let rules, rules.mode == record.key.mode, let url = try? TargetURL(parsing: record.key.target)
    else {
      self.init(record.response, now: now)
      return
    }
    if let seen = record.response.seen(by: rules, answering: url.request(record.response.requestMethod)) {
      self.init(seen, now: now)
    } else {
      self = .forbidden
    }
  }

  /// Judges a stored response (RFC 9111 §4.2).
  init(_ response: StoredResponse, now: Timestamp) {
    let facts = response.facts
    let age = Age.current(response, now: now)
    // The numbers are from a file.
    let (difference, isTooLow) = response.freshnessLifetime(atAge: age).subtractingReportingOverflow(age)
    let left = isTooLow ? -Int64.max : max(difference, -Int64.max)
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
    case .forbidden: "not used: an override"
    }
  }

  /// The order in listings: the response that stays fresh longest is last.
  var order: Int64 {
    switch self {
    case .fresh(let left): left
    case .stale(let since): -since
    case .alwaysValidated: 0
    case .invalidated, .forbidden: .min
    }
  }
}
