/// The reasons of a decision of the cache, as a chain of questions and answers.
public struct CacheExplanation: Sendable, Hashable, CustomStringConvertible {
  /// The topic of a step, in the order of the questions.
  #if hasAttribute(nonexhaustive)
    @nonexhaustive
  #endif
  public enum Topic: String, Sendable, Hashable, CaseIterable {
    /// The request.
    case request = "Request"
    /// The overrides that match the request.
    case overrides = "Overrides"
    /// The responses stored for the target.
    case stored = "What is stored"
    /// The stored response that the request selects (RFC 9111 §4.1).
    case variant = "Variant"
    /// Whether that response is fresh (RFC 9111 §4.2).
    case freshness = "Freshness"
    /// The decision (RFC 9111 §4).
    case decision = "Decision"
    /// Whether a response is stored (RFC 9111 §3).
    case storing = "Storing"
  }

  /// One question and its answer.
  public struct Step: Sendable, Hashable, CustomStringConvertible {
    /// The question.
    public var question: String
    /// The answer, with the values that were compared.
    public var answer: String
    /// The section with the rule; empty for a setting of the cache.
    public var section: String
    /// The topic.
    public var topic: Topic

    /// Makes a step.
    public init(_ question: String, _ answer: String, section: String, topic: Topic = .storing) {
      self.question = question
      self.answer = answer
      self.section = section
      self.topic = topic
    }

    /// The step as one line.
    public var description: String {
      section.isEmpty ? "\(question) \(answer)" : "\(question) \(answer) (\(section))"
    }
  }

  /// An earlier response to the same request that was not stored.
  public struct Refusal: Sendable, Hashable, CustomStringConvertible {
    /// When it arrived.
    public var time: Timestamp
    /// Its status.
    public var status: Int
    /// Why it was not stored; the last step is the reason.
    public var steps: [Step]

    /// Makes a refusal.
    public init(time: Timestamp, status: Int, steps: [Step]) {
      self.time = time
      self.status = status
      self.steps = steps
    }

    /// Time, status and reason, followed by every step.
    public var description: String {
      let reason = steps.last.map { ", \($0.answer)" } ?? ""
      let section = steps.last.map { $0.section.isEmpty ? "" : " (\($0.section))" } ?? ""
      let lines = steps.dropLast().map { "\n  \($0)" }
      return "\(time.httpDate), status \(status)\(reason)\(section)" + lines.joined()
    }
  }

  /// The steps, in order; the last one is the decision.
  public var steps: [Step]
  /// The decision about reuse; nil in an explanation of storing.
  public var decision: ReuseDecision?
  /// Why earlier responses were not stored, latest first; empty if not relevant.
  public var refusals: [Refusal]

  /// Makes an explanation.
  public init(steps: [Step] = [], decision: ReuseDecision? = nil, refusals: [Refusal] = []) {
    self.steps = steps
    self.decision = decision
    self.refusals = refusals
  }

  /// The steps, one per line, under the titles of their topics if there are several topics.
  public var description: String {
    var lines: [String] = []
    let isGrouped = steps.contains { $0.topic != steps.first?.topic }
    var topic: Topic?
    for step in steps {
      if isGrouped, topic != step.topic { lines.append(step.topic.rawValue) }
      topic = step.topic
      lines.append(isGrouped ? "  \(step)" : "\(step)")
    }
    for (index, refusal) in refusals.enumerated() {
      lines.append("\(index == 0 ? "Last time it was not stored" : "Before that"): \(refusal)")
    }
    return lines.joined(separator: "\n")
  }

  /// Inserts a step before the first step of a topic, or at the end.
  package mutating func insert(_ step: Step, before topic: Topic) {
    steps.insert(step, at: steps.firstIndex { $0.topic == topic } ?? steps.endIndex)
  }

  mutating func add(_ topic: Topic, _ question: String, _ answer: String, _ section: String) {
    steps.append(Step(question, answer, section: section, topic: topic))
  }
}
