/// Where an answer came from, and why.
public enum CacheOutcome: Sendable, Hashable {
  /// From the store, without asking the origin. `age` and `lifetime` in seconds; `allowance` says
  /// what allowed a stale response, nil for a fresh one.
  case hit(age: Int64, lifetime: Int64, allowance: StaleAllowance?)
  /// From the store, after the origin confirmed it (304).
  case validated(ValidationReason, age: Int64, lifetime: Int64)
  /// From the origin. `collapsed`: another request's transfer answered this one.
  case forwarded(ForwardReason, status: Int, storage: StorageDecision, collapsed: Bool)
  /// Not at all: the request forbade asking the origin.
  case unsatisfiable(UnsatisfiableReason)
}
