/// Hears each question that a rule asks, so that an explanation is what the decision told, and not a second decision.
///
/// A rule that decides has a function with a trace as its last parameter. `Untraced` hears nothing: the compiler then
/// leaves out the questions and the texts.
protocol RuleTrace {
  /// Hears a question and its answer.
  ///
  /// - Parameter section: the section with the rule; empty for a setting of the cache.
  mutating func note(
    _ question: @autoclosure () -> String, _ answer: @autoclosure () -> String,
    section: @autoclosure () -> String, topic: CacheExplanation.Topic)
}

extension RuleTrace {
  /// Tells a requirement, and returns its failure for the rule to act on.
  ///
  /// - Parameters:
  ///   - failure: the reason if the requirement is not met; nil if it is met.
  ///   - values: what was compared, whatever the result; nil tells the reason alone.
  ///   - section: the section with the rule; a reason has its own.
  @inline(__always)
  mutating func failure<Failure: Reason>(
    _ question: @autoclosure () -> String, _ failure: Failure?, values: @autoclosure () -> String? = nil,
    section: @autoclosure () -> String, topic: CacheExplanation.Topic
  ) -> Failure? {
    note(
      question(), Self.answer(failure, values()), section: failure.map(\.section) ?? section(), topic: topic)
    return failure
  }

  /// Tells a requirement of storing, and throws its failure: see `failure`.
  @inline(__always)
  mutating func require(
    _ question: @autoclosure () -> String, _ refusal: StorageRefusal?,
    values: @autoclosure () -> String? = nil, section: @autoclosure () -> String
  ) throws(StorageRefusal) {
    if let refusal = failure(question(), refusal, values: values(), section: section(), topic: .storing) {
      throw refusal
    }
  }

  private static func answer(_ failure: (some Reason)?, _ values: String?) -> String {
    guard let failure else { return values.map { "yes: \($0)" } ?? "yes" }
    return "no: \(values ?? failure.description)"
  }
}

/// The trace of a decision without an explanation.
struct Untraced: RuleTrace {
  @inline(__always)
  mutating func note(
    _ question: @autoclosure () -> String, _ answer: @autoclosure () -> String,
    section: @autoclosure () -> String, topic: CacheExplanation.Topic
  ) {}
}

extension CacheExplanation: RuleTrace {
  /// The maximum number of steps that are kept, of rules with hundreds of overrides and of many variants.
  private static let stepLimit = 128

  mutating func note(
    _ question: @autoclosure () -> String, _ answer: @autoclosure () -> String,
    section: @autoclosure () -> String, topic: Topic
  ) {
    guard steps.count < Self.stepLimit else { return }
    steps.append(Step(question(), answer(), section: section(), topic: topic))
  }
}
