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
