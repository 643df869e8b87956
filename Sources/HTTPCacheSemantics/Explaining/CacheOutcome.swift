/// Where an answer came from, and why.
public enum CacheOutcome: Sendable, Hashable {
  /// From the store, without the origin's confirmation. `age` and `lifetime` in seconds: the response is
  /// fresh while `age` is less. `allowance` says what allowed a stale response, and what allowed a fresh
  /// one that the origin was to be asked about first and could not be, as with
  /// `CachePolicy.networkElseCache`; nil for a fresh one that is used as such.
  case hit(age: Int64, lifetime: Int64, allowance: StaleAllowance?)
  /// From the store, after the origin confirmed it (304). The reason tells of the response as it was
  /// before, `age` and `lifetime` in seconds as the 304 has left it.
  case validated(ValidationReason, age: Int64, lifetime: Int64)
  /// From the origin. `collapsed`: another request's transfer answered this one.
  case forwarded(ForwardReason, status: Int, storage: StorageDecision, collapsed: Bool)
  /// Not at all: the request forbade asking the origin.
  case unsatisfiable(UnsatisfiableReason)
}
