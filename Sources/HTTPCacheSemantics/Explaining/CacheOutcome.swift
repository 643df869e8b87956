/// Where an answer came from, and why.
public enum CacheOutcome: Sendable, Hashable {
  /// From the store, without the origin's confirmation. `age` and `lifetime` in seconds: the response is
  /// fresh while `age` is less. `allowance` says what allowed a stale response. It is also set for a fresh
  /// response that is used because the origin had to be asked first and failed, as with
  /// `CachePolicy.networkElseCache`; otherwise it is nil for a fresh response.
  case hit(age: Int64, lifetime: Int64, allowance: StaleAllowance?)
  /// From the store, after the origin confirmed it (304). The reason describes the response before the 304;
  /// `age` and `lifetime` in seconds describe it after the 304.
  case validated(ValidationReason, age: Int64, lifetime: Int64)
  /// From the origin. `collapsed`: another request's transfer answered this one.
  case forwarded(ForwardReason, status: Int, storage: StorageDecision, collapsed: Bool)
  /// No answer: the request forbade asking the origin.
  case unsatisfiable(UnsatisfiableReason)
}

extension CacheOutcome: CustomStringConvertible {
  /// A line for people, such as `from the store, fresh for 58 s`.
  public var description: String {
    switch self {
    case .hit(let age, let lifetime, nil):
      "from the store, fresh for \(lifetime.saturatingSubtract(age)) s"
    case .hit(let age, let lifetime, let allowance?) where lifetime > age:
      "from the store, fresh for \(lifetime.saturatingSubtract(age)) s: \(allowance)"
    case .hit(let age, let lifetime, let allowance?):
      "from the store, stale for \(age.saturatingSubtract(lifetime)) s: \(allowance)"
    case .validated(let reason, let age, let lifetime):
      "from the store, confirmed by the origin (\(reason)), "
        + "fresh for \(max(0, lifetime.saturatingSubtract(age))) s"
    case .forwarded(let reason, let status, let storage, let isCollapsed):
      "\(status) from the origin (\(reason)), "
        + (isCollapsed ? "along with another request" : Self.text(storage))
    case .unsatisfiable(let reason): "refused: \(reason)"
    }
  }

  private static func text(_ storage: StorageDecision) -> String {
    switch storage {
    case .store: "to be stored"
    case .doNotStore(let refusal): "not stored: \(refusal)"
    }
  }
}
