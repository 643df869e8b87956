/// Why a cache did what it did, as the chain of questions it asked.
public struct CacheExplanation: Sendable, Hashable, CustomStringConvertible {
  /// One question and what followed.
  public struct Step: Sendable, Hashable, CustomStringConvertible {
    /// What was asked.
    public var question: String
    /// The answer, with the values that were compared.
    public var answer: String
    /// The section that asks it; empty where a setting of the cache does.
    public var section: String

    /// Makes a step.
    public init(_ question: String, _ answer: String, section: String) {
      self.question = question
      self.answer = answer
      self.section = section
    }

    /// The step as one line.
    public var description: String {
      section.isEmpty ? "\(question) \(answer)" : "\(question) \(answer) (\(section))"
    }
  }

  /// The steps, in order; the last one is the decision.
  public var steps: [Step]
  /// What was decided about reuse; nil in an explanation of storing.
  public var decision: ReuseDecision?

  /// Makes an explanation.
  public init(steps: [Step] = [], decision: ReuseDecision? = nil) {
    self.steps = steps
    self.decision = decision
  }

  /// The steps, one a line.
  public var description: String { steps.map(\.description).joined(separator: "\n") }

  mutating func add(_ question: String, _ answer: String, _ section: String) {
    steps.append(Step(question, answer, section: section))
  }
}
