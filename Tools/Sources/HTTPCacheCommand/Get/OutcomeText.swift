import HTTPCacheSemantics
import HTTPCaching

/// The outcome of a request, in one line.
struct OutcomeText {
  let outcome: CacheOutcome
  let storage: StorageRecorder.Result?
  /// The length of the body in bytes, if it is known.
  var length: Int64?
  /// Whether the policy forbids to ask the origin; if false, a field of the request does.
  var isCacheOnly = true
  /// Why the request bypassed the cache, if it did.
  var bypass = CachePolicy.bypass.option

  /// One word for programs.
  var word: String {
    switch outcome {
    case .hit(_, _, nil): "hit"
    case .hit(let age, let lifetime, _): lifetime > age ? "hit" : "stale"
    case .validated: "revalidated"
    case .forwarded(.validation, _, _, _): "replaced"
    case .forwarded: "miss"
    case .shared: "shared"
    case .unsatisfiable: "unsatisfiable"
    }
  }

  /// The line, such as `hit, fresh for 58 min`.
  var line: String {
    switch outcome {
    case .hit(let age, let lifetime, nil):
      "hit, fresh for \(HumanText.duration((lifetime - age).components.seconds))"
    case .hit(let age, let lifetime, let allowance?) where lifetime > age:
      "hit, fresh for \(HumanText.duration((lifetime - age).components.seconds)), because: \(Self.text(allowance))"
    case .hit(let age, let lifetime, let allowance?):
      "hit, \(HumanText.staleness((age - lifetime).components.seconds)), allowed: \(Self.text(allowance))"
    case .validated(_, let age, let lifetime) where lifetime > age:
      "revalidated, 304, fresh for \(HumanText.duration((lifetime - age).components.seconds))"
    case .validated:
      "revalidated, 304"
    case .forwarded(.miss(.absent), _, let decision, let collapsed):
      "miss, \(stored(decision, collapsed))"
    case .forwarded(.miss(let reason), _, let decision, let collapsed):
      "miss (\(Self.text(reason, bypass: bypass))), \(stored(decision, collapsed))"
    case .forwarded(.validation(let reason), _, let decision, let collapsed):
      "refetched: \(Self.text(reason))\(notStored(decision, collapsed))"
    case .shared(_, let age, let lifetime):
      "from the fleet, fresh for \(HumanText.duration((lifetime - age).components.seconds))"
    case .unsatisfiable(let reason):
      "\(Self.text(reason)), and \(forbidder) forbids asking the origin"
    }
  }

  /// Whether the response is in the cache now.
  var isStored: Bool {
    switch outcome {
    case .hit, .validated: true
    case .unsatisfiable: false
    case .forwarded, .shared:
      if case .stored = storage { true } else { false }
    }
  }

  /// Why the response is not stored.
  var refusal: StorageRefusal? {
    guard case .forwarded(_, _, let decision, _) = outcome else { return nil }
    if case .notStored(let refusal) = storage { return refusal }
    if case .doNotStore(let refusal) = decision { return refusal }
    return nil
  }

  /// The limit that the body exceeds, with the options that change the limit; nil if the response was not refused
  /// for its size.
  var limit: String? {
    guard case .tooLarge(let limit) = refusal else { return nil }
    // The record of a short body, or the index itself, may be what has no room.
    let size = length.flatMap { $0 > limit ? HumanText.bytes($0) : nil } ?? "it"
    return "\(size) is over the limit of \(HumanText.bytes(limit)) (--largest-entry, --capacity)"
  }

  private var forbidder: String {
    isCacheOnly ? CachePolicy.cacheOnly.option : "only-if-cached in the request"
  }

  private func stored(_ decision: StorageDecision, _ collapsed: Bool) -> String {
    // The recorder says why the store failed.
    if refusal == .storeFailed { return "not stored" }
    if let refusal { return "not stored: \(limit ?? Self.text(refusal, bypass: bypass))" }
    if case .stored = storage { return "stored" }
    return collapsed ? "from another request's transfer" : "not stored"
  }

  private func notStored(_ decision: StorageDecision, _ collapsed: Bool) -> String {
    let text = stored(decision, collapsed)
    return text == "stored" ? "" : ", \(text)"
  }
}

extension OutcomeText {
  /// A reason, with its section in parentheses if it has one. Policies are spelled as in the option.
  ///
  /// - Parameter bypass: why a request bypasses the cache.
  static func text(_ reason: some Reason, bypass: String = CachePolicy.bypass.option) -> String {
    let words =
      switch reason {
      case MissReason.policy(.bypass) as MissReason, StorageRefusal.policy as StorageRefusal: bypass
      case let reason as MissReason: words(reason)
      case let reason as ValidationReason: words(reason)
      case StaleAllowance.policy(let policy) as StaleAllowance: policy.option
      default: reason.description
      }
    return reason.section.isEmpty ? words : "\(words) (\(reason.section))"
  }

  /// The reason of a 504: the origin must not be asked, and no stored response may be used.
  static func text(_ reason: UnsatisfiableReason) -> String {
    switch reason {
    case .miss(.absent): "not in the cache"
    case .miss(.partial): "only a part is in the cache"
    case .miss(let reason): words(reason)
    case .validation(.stale(let age, let lifetime)): stale(age, lifetime)
    case .validation(.invalidated): "invalidated"
    case .validation(let reason): "to be validated (\(words(reason)))"
    }
  }

  /// Why a response was fetched again.
  static func text(_ reason: ValidationReason) -> String {
    if case .stale(let age, let lifetime) = reason { return stale(age, lifetime) }
    return reason.section.isEmpty ? words(reason) : "\(words(reason)) (\(reason.section))"
  }

  private static func stale(_ age: Duration, _ lifetime: Duration) -> String {
    let seconds = max(.zero, age - lifetime).components.seconds
    return "stale by \(seconds < 600 ? "\(seconds) s" : HumanText.duration(seconds))"
  }

  private static func words(_ reason: MissReason) -> String {
    if case .policy(let policy) = reason { policy.option } else { reason.description }
  }

  private static func words(_ reason: ValidationReason) -> String {
    if case .policy(let policy) = reason { policy.option } else { reason.description }
  }
}

extension CachePolicy {
  /// The option that selects the policy.
  var option: String {
    let argument = PolicyArgument.allCases.first { $0.policy.name == name }
    return "--policy \(argument?.rawValue ?? name)"
  }
}
