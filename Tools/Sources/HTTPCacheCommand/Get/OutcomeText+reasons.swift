import HTTPCacheSemantics
import HTTPCaching

extension OutcomeText {
  /// A reason, with its section in parentheses if it has one. Policies are spelled as in the option.
  static func text(_ reason: some Reason) -> String {
    let words =
      switch reason {
      case let reason as MissReason: words(reason)
      case let reason as ValidationReason: words(reason)
      case StaleAllowance.policy(let policy) as StaleAllowance: policy.option
      case StorageRefusal.policy as StorageRefusal: CachePolicy.bypass.option
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
