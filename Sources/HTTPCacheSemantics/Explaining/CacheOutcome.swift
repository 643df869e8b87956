/// Where an answer came from, and why.
public enum CacheOutcome: Sendable, Hashable {
  /// From the store, without the origin's confirmation. The response is fresh while `age` is less than
  /// `lifetime`; both are whole seconds. `allowance` says what allowed a stale response. It is also set for a fresh
  /// response that is used because the origin had to be asked first and failed, as with
  /// `CachePolicy.networkElseCache`; otherwise it is nil for a fresh response.
  case hit(age: Duration, lifetime: Duration, allowance: StaleAllowance?)
  /// From the store, after the origin confirmed it (304). The reason describes the response before the 304;
  /// `age` and `lifetime` describe it after the 304.
  case validated(ValidationReason, age: Duration, lifetime: Duration)
  /// From the origin. `collapsed`: another request's transfer answered this one.
  case forwarded(ForwardReason, status: Int, storage: StorageDecision, collapsed: Bool)
  /// From the tier that the nodes of a fleet share, without asking the origin. The reason tells why this node's own
  /// store did not answer; `age` and `lifetime` are whole seconds.
  case shared(ForwardReason, age: Duration, lifetime: Duration)
  /// No answer: the request forbade asking the origin.
  case unsatisfiable(UnsatisfiableReason)
}

extension CacheOutcome {
  /// Whether the answer came from the store and the origin was not asked.
  public var isHit: Bool { if case .hit = self { true } else { false } }

  /// Whether the answer is a stale response that the origin did not confirm: its age has reached its lifetime.
  public var isStale: Bool {
    if case .hit(let age, let lifetime, _) = self { age >= lifetime } else { false }
  }

  /// The age of an answer from the store, or from the tier of a fleet, in whole seconds (RFC 9111 §4.2.3); nil for an answer of the origin,
  /// and without an answer.
  public var age: Duration? {
    switch self {
    case .hit(let age, _, _), .validated(_, let age, _), .shared(_, let age, _): age
    case .forwarded, .unsatisfiable: nil
    }
  }
}

extension CacheOutcome: CustomStringConvertible {
  /// A line for people, such as `from the store, fresh for 58 s`.
  public var description: String {
    switch self {
    case .hit(let age, let lifetime, nil):
      "from the store, fresh for \((lifetime - age).wholeSeconds) s"
    case .hit(let age, let lifetime, let allowance?) where lifetime > age:
      "from the store, fresh for \((lifetime - age).wholeSeconds) s: \(allowance)"
    case .hit(let age, let lifetime, let allowance?):
      "from the store, stale for \((age - lifetime).wholeSeconds) s: \(allowance)"
    case .validated(let reason, let age, let lifetime):
      "from the store, confirmed by the origin (\(reason)), "
        + "fresh for \(max(.zero, lifetime - age).wholeSeconds) s"
    case .forwarded(let reason, let status, let storage, let isCollapsed):
      "\(status) from the origin (\(reason)), "
        + (isCollapsed ? "along with another request" : Self.text(storage))
    case .shared(let reason, let age, let lifetime):
      "from the fleet (\(reason)), fresh for \(max(.zero, lifetime - age).wholeSeconds) s"
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

/// The source of an answer, as in `URLSessionTaskMetrics`.
public enum FetchType: Sendable, Hashable {
  /// From the store, without asking the origin or after it failed.
  case localCache
  /// From the store, confirmed by the origin.
  case validated
  /// From the origin, from the transfer of another request, or from the tier of a fleet.
  case networkLoad
}

extension CacheOutcome {
  /// The source of the answer; nil for a request that was refused.
  public var fetchType: FetchType? {
    switch self {
    case .hit: .localCache
    case .validated: .validated
    case .forwarded, .shared: .networkLoad
    case .unsatisfiable: nil
    }
  }
}
