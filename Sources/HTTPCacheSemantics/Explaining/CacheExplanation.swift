public import HTTPTypes

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
}

extension CacheExplanation {
  /// A stored response that an explanation looks at. The whole body and a part of one variant are two candidates.
  public struct Candidate: Sendable {
    /// The stored response as the overrides let it be seen.
    public var response: StoredResponse
    /// The stored part of its body; nil if all of it is stored.
    public var part: StoredPart?
    /// The length of the complete body in bytes; nil if it is not known.
    public var length: Int64?

    /// Makes a candidate, of which by default the whole body is stored.
    public init(_ response: StoredResponse, part: StoredPart? = nil, length: Int64? = nil) {
      self.response = response
      self.part = part
      self.length = length
    }
  }

  /// The facts that decide about a request, besides itself and the stored responses.
  public struct Circumstances: Sendable {
    /// How the caller uses the cache.
    public var policy: CachePolicy
    /// The choices of the cache.
    public var rules: CacheRules
    /// The time of the decision.
    public var now: Timestamp
    /// Makes the digest of a secret value.
    public var digest: SecretDigest

    /// Makes the circumstances of a decision.
    public init(
      policy: CachePolicy = .standard, rules: CacheRules, now: Timestamp, digest: @escaping SecretDigest
    ) {
      self.policy = policy
      self.rules = rules
      self.now = now
      self.digest = digest
    }
  }

  /// The request that the origin would get.
  public struct Forward: Sendable {
    /// The request with the fields that the cache adds.
    public var request: HTTPRequest
    /// The index of the candidate that it completes; nil if it completes none.
    public var completing: Int?

    /// Makes the request that would be sent.
    public init(_ request: HTTPRequest, completing: Int? = nil) {
      self.request = request
      self.completing = completing
    }
  }
}

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
    case .fresh(let age, let lifetime): Self.returned(nil, age: age, lifetime: lifetime)
    case .stale(let allowance, let age, let lifetime):
      Self.returned(allowance, age: age, lifetime: lifetime)
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
      step("Has it changed?", hasChanged ? "yes" : "no", section: "RFC 9111 §4.3.3"),
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
      step("Must it be revalidated?", "yes: \(reason)", section: reason.section),
    ]
  }

  private static func found() -> [Step] {
    [isCached(nil), step("Must it be revalidated?", "no", section: "RFC 9111 §4")]
  }

  private static func isCached(_ reason: MissReason?) -> Step {
    step(
      "Is there a cached response?", reason.map { "no: \($0)" } ?? "yes",
      section: reason?.section ?? "RFC 9111 §4")
  }

  private static func isStale(_ values: String?) -> Step {
    step("Is it stale?", values.map { "yes: \($0)" } ?? "no", section: "RFC 9111 §4.2")
  }

  private static func following(_ what: String) -> Step { step("What follows?", what, section: "") }

  private static func step(_ question: String, _ answer: String, section: String) -> Step {
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
    case .forwarded(.validation(let reason), _, _, _), .shared(.validation(let reason), _, _):
      CacheExplanation.validating(reason) + CacheExplanation.hasChanged(true)
    case .forwarded(.miss(let reason), _, _, _), .shared(.miss(let reason), _, _):
      CacheExplanation.missing(reason)
    case .unsatisfiable(let reason):
      CacheExplanation(decision: .unsatisfiable(reason)).protocolPolicyPath
    }
  }
}
