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
