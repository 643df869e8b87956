/// Why a cache did what it did, as the chain of questions it asked.
public struct CacheExplanation: Sendable, Hashable, CustomStringConvertible {
  /// What a step is about; the order is that in which the questions are asked.
  public enum Topic: String, Sendable, Hashable, CaseIterable {
    /// What the request says.
    case request = "Request"
    /// What overrides of the cache's rules make different.
    case overrides = "Overrides"
    /// What is stored for its target.
    case stored = "What is stored"
    /// Which of it the request selects (RFC 9111 §4.1).
    case variant = "Variant"
    /// Whether that is fresh (RFC 9111 §4.2).
    case freshness = "Freshness"
    /// What follows (RFC 9111 §4).
    case decision = "Decision"
    /// Whether a response is stored (RFC 9111 §3).
    case storing = "Storing"
  }

  /// One question and what followed.
  public struct Step: Sendable, Hashable, CustomStringConvertible {
    /// What was asked.
    public var question: String
    /// The answer, with the values that were compared.
    public var answer: String
    /// The section that asks it; empty where a setting of the cache does.
    public var section: String
    /// What it is about.
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

  /// A response to the same request that came earlier and was not stored.
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

    /// When, which status and why, and then every step.
    public var description: String {
      let reason = steps.last.map { ", \($0.answer)" } ?? ""
      let section = steps.last.map { $0.section.isEmpty ? "" : " (\($0.section))" } ?? ""
      let lines = steps.dropLast().map { "\n  \($0)" }
      return "\(time.httpDate), status \(status)\(reason)\(section)" + lines.joined()
    }
  }

  /// The steps, in order; the last one is the decision.
  public var steps: [Step]
  /// What was decided about reuse; nil in an explanation of storing.
  public var decision: ReuseDecision?
  /// Why earlier responses were not stored, the latest first, where that answers the question.
  public var refusals: [Refusal]

  /// Makes an explanation.
  public init(steps: [Step] = [], decision: ReuseDecision? = nil, refusals: [Refusal] = []) {
    self.steps = steps
    self.decision = decision
    self.refusals = refusals
  }

  /// The steps, one a line, below the titles of their topics if there is more than one.
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

  /// Puts a step before the first one of a topic, or last.
  package mutating func insert(_ step: Step, before topic: Topic) {
    steps.insert(step, at: steps.firstIndex { $0.topic == topic } ?? steps.endIndex)
  }

  mutating func add(_ topic: Topic, _ question: String, _ answer: String, _ section: String) {
    steps.append(Step(question, answer, section: section, topic: topic))
  }
}
