extension CacheExplanation {
  /// The path of the decision through Apple's diagram of `NSURLRequest.CachePolicy.useProtocolCachePolicy`:
  /// is there a cached response, must it be revalidated, is it stale, and what follows. Empty for an
  /// explanation of storing.
  ///
  /// If the origin is asked, the path ends there: only its answer tells whether the response has changed
  /// (`CacheOutcome.protocolPolicyPath`).
  public var protocolPolicyPath: [Step] {
    switch decision {
    case nil: []
    case .fresh: Self.found() + [Self.isStale(nil), Self.following("return the cached response")]
    case .stale(let allowance, let age, let lifetime):
      Self.found() + [
        Self.isStale("\(age.wholeSeconds) s old, fresh for \(lifetime.wholeSeconds) s"),
        Self.following("return the cached response: \(allowance)"),
      ]
    case .validate(let reason): Self.validating(reason)
    case .miss(let reason): Self.missing(reason)
    case .unsatisfiable(.miss(let reason)):
      [Self.isCached(reason), Self.following("fail: the origin must not be asked")]
    case .unsatisfiable(.validation(let reason)):
      Self.needed(reason) + [Self.following("fail: the origin must not be asked")]
    }
  }

  fileprivate static func missing(_ reason: MissReason) -> [Step] {
    [isCached(reason), following("load from the origin")]
  }

  fileprivate static func validating(_ reason: ValidationReason) -> [Step] {
    needed(reason) + [following("ask the origin with a condition")]
  }

  fileprivate static func hasChanged(_ hasChanged: Bool) -> [Step] {
    [
      step("Has it changed?", hasChanged ? "yes" : "no", "RFC 9111 §4.3.3"),
      following(hasChanged ? "load from the origin" : "return the cached response"),
    ]
  }

  fileprivate static func returned(_ allowance: StaleAllowance?, age: Duration, lifetime: Duration) -> [Step]
  {
    let staleness = allowance.map { _ in "\(age.wholeSeconds) s old, fresh for \(lifetime.wholeSeconds) s" }
    let why = allowance.map { ": \($0)" } ?? ""
    return found() + [isStale(staleness), following("return the cached response\(why)")]
  }

  /// A stale response is validated because of its age; every other reason holds at any age.
  private static func needed(_ reason: ValidationReason) -> [Step] {
    if case .stale(let age, let lifetime) = reason {
      return found() + [isStale("\(age.wholeSeconds) s old, fresh for \(lifetime.wholeSeconds) s")]
    }
    return [
      isCached(nil),
      step("Must it be revalidated?", "yes: \(reason)", reason.section),
    ]
  }

  private static func found() -> [Step] {
    [isCached(nil), step("Must it be revalidated?", "no", "RFC 9111 §4")]
  }

  private static func isCached(_ reason: MissReason?) -> Step {
    step(
      "Is there a cached response?", reason.map { "no: \($0)" } ?? "yes",
      reason?.section ?? "RFC 9111 §4")
  }

  private static func isStale(_ values: String?) -> Step {
    step("Is it stale?", values.map { "yes: \($0)" } ?? "no", "RFC 9111 §4.2")
  }

  private static func following(_ what: String) -> Step { step("What follows?", what, "") }

  private static func step(_ question: String, _ answer: String, _ section: String) -> Step {
    Step(question, answer, section: section, topic: .decision)
  }
}

extension CacheOutcome {
  /// The path through Apple's diagram of `NSURLRequest.CachePolicy.useProtocolCachePolicy`, to its end.
  public var protocolPolicyPath: [CacheExplanation.Step] {
    switch self {
    case .hit(let age, let lifetime, let allowance):
      CacheExplanation.returned(allowance, age: age, lifetime: lifetime)
    case .validated(let reason, _, _):
      CacheExplanation.validating(reason) + CacheExplanation.hasChanged(false)
    case .forwarded(.validation(let reason), _, _, _):
      CacheExplanation.validating(reason) + CacheExplanation.hasChanged(true)
    case .forwarded(.miss(let reason), _, _, _): CacheExplanation.missing(reason)
    case .unsatisfiable(let reason):
      CacheExplanation(decision: .unsatisfiable(reason)).protocolPolicyPath
    }
  }
}
