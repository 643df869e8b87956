import HTTPCacheSemantics
import HTTPCaching

/// An explanation as JSON.
struct ExplanationJSON: Encodable {
  /// A question and its answer.
  struct Step: Encodable {
    var topic: String
    var question: String
    var answer: String
    var section: String

    init(_ step: CacheExplanation.Step) {
      topic = step.topic.rawValue
      question = step.question
      answer = step.answer
      section = step.section
    }
  }

  /// The decision after all steps.
  struct Decision: Encodable {
    /// `fresh`, `stale`, `validate`, `forward` or `refuse`.
    var action: String
    var reason: String?
    var section: String?
    var age: Int64?
    var lifetime: Int64?

    init(_ decision: ReuseDecision) {
      switch decision {
      case .fresh(let age, let lifetime):
        self.init("fresh", age: age, lifetime: lifetime)
      case .stale(let reason, let age, let lifetime): self.init("stale", reason, age: age, lifetime: lifetime)
      case .validate(let reason): self.init("validate", reason)
      case .miss(let reason): self.init("forward", reason)
      case .unsatisfiable(let reason): self.init("refuse", reason)
      }
    }

    /// The decision of a server that answers without its cache.
    init(refusing reason: String, section: String) {
      self.init("refuse")
      self.reason = reason
      self.section = section
    }

    private init(
      _ action: String, _ reason: (any Reason)? = nil, age: Duration? = nil, lifetime: Duration? = nil
    ) {
      self.action = action
      self.reason = reason?.description
      section = reason?.section
      self.age = age?.components.seconds
      self.lifetime = lifetime?.components.seconds
    }
  }

  /// A response that was not stored.
  struct Refusal: Encodable {
    /// Seconds since 1970.
    var time: Int64
    var status: Int
    var steps: [Step]
  }

  var decision: Decision?
  var steps: [Step]
  var refusals: [Refusal]

  init(_ explanation: CacheExplanation) {
    decision = explanation.decision.map(Decision.init)
    steps = explanation.steps.map(Step.init)
    refusals = explanation.refusals.map {
      Refusal(time: $0.time.seconds, status: $0.status, steps: $0.steps.map(Step.init))
    }
  }
}
