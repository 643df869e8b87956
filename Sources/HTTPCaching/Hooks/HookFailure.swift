/// Why a `StoringHook` gave no decision.
#if hasAttribute(nonexhaustive)
  @nonexhaustive
#endif
public enum HookFailure: Error, Sendable, CustomStringConvertible {
  /// It threw.
  case threw(any Error)
  /// It did not return in time.
  case timedOut(Duration)

  /// A few words for people.
  public var description: String {
    switch self {
    case .threw(let error): "threw \(error)"
    case .timedOut(let limit): "did not return within \(limit)"
    }
  }
}
