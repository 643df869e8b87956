import HTTPCaching

/// What became of one URL of `httpcache get`.
struct TransferReport: Sendable {
  /// An answer.
  struct Answer: Sendable {
    var status: Int
    var head = HTTPResponse(status: .ok)
    var outcome: CacheOutcome
    var storage: StorageRecorder.Result?
    var bytes: Int64
    var finalTarget: String
    var redirects: Int
    var file: String?
    /// Why the response is stored or not.
    var explanation: CacheExplanation?
  }

  /// How it ended.
  enum Ending: Sendable {
    case answered(Answer)
    case failed(ExitStatus, String)
  }

  let url: String
  let elapsed: Duration
  let ending: Ending
  /// What was decided about the request, before it was made.
  var explanation: CacheExplanation?

  /// How the command ends because of it.
  ///
  /// - Parameter failing: whether a status of 400 and more is a failure.
  func exitStatus(failing: Bool) -> ExitStatus {
    switch ending {
    case .failed(let status, _): status
    case .answered(let answer):
      if case .unsatisfiable = answer.outcome {
        .notStored
      } else if case .digestMismatch = OutcomeText(outcome: answer.outcome, storage: answer.storage)
        .refusal
      {
        .brokenProtocol
      } else {
        failing && answer.status >= 400 ? .httpError : .success
      }
    }
  }

  /// What happened, without the URL.
  var text: String {
    switch ending {
    case .failed(_, let message): return message
    case .answered(let answer):
      var text = OutcomeText(outcome: answer.outcome, storage: answer.storage).line
      if answer.status >= 400, answer.status != 504 || !isUnsatisfiable {
        text = "status \(answer.status), " + text
      }
      if answer.redirects > 0 {
        text += ", after \(HumanText.count(answer.redirects, "redirect")) at \(answer.finalTarget)"
      }
      return text
    }
  }

  /// The line for people.
  var line: String {
    var facts = [text]
    if case .answered(let answer) = ending, !isUnsatisfiable {
      facts.append("\(HumanText.bytes(answer.bytes)) in \(HumanText.duration(elapsed))")
      if let file = answer.file { facts.append("written to \(file)") }
    }
    return "\(url): " + facts.joined(separator: "; ")
  }

  /// The explanations, where they were asked for: of the request, then of storing the response.
  var explanations: String? {
    var parts: [String] = []
    if let explanation { parts.append("\(explanation)") }
    if case .answered(let answer) = ending, let storing = answer.explanation {
      parts.append("Storing\n\(storing)".replacing("\n", with: "\n  "))
    }
    return parts.isEmpty ? nil : parts.joined(separator: "\n")
  }

  /// The same for programs.
  var json: JSONReport {
    var report = JSONReport(
      url: url, summary: text, milliseconds: HumanText.milliseconds(elapsed).rounded())
    report.explanation = explanation.map(ExplanationJSON.init)
    switch ending {
    case .failed(let status, let message):
      report.outcome = "error"
      report.error = JSONReport.Failure(kind: "\(status)", message: message)
    case .answered(let answer):
      let outcome = OutcomeText(outcome: answer.outcome, storage: answer.storage)
      report.outcome = outcome.word
      report.status = answer.status
      report.bytes = answer.bytes
      report.finalURL = answer.finalTarget
      report.redirects = answer.redirects
      report.file = answer.file
      report.storing = answer.explanation.map(ExplanationJSON.init)
      report.isStored = outcome.isStored
      report.refusal = outcome.refusal.map { .init(reason: $0.description, section: $0.section) }
      switch answer.outcome {
      case .hit(let age, let lifetime, _), .validated(_, let age, let lifetime):
        report.age = age
        report.lifetime = lifetime
      default: break
      }
    }
    return report
  }

  private var isUnsatisfiable: Bool {
    if case .answered(let answer) = ending, case .unsatisfiable = answer.outcome { true } else { false }
  }
}

/// One line of `httpcache get --json`.
struct JSONReport: Encodable {
  /// Why something is not stored.
  struct Refusal: Encodable {
    var reason: String
    var section: String
  }

  /// Why there is no answer.
  struct Failure: Encodable {
    var kind: String
    var message: String
  }

  var url: String
  var summary: String
  var milliseconds: Double
  var outcome = ""
  var status: Int?
  var bytes: Int64?
  var finalURL: String?
  var redirects: Int?
  var file: String?
  var isStored: Bool?
  var refusal: Refusal?
  var age: Int64?
  var lifetime: Int64?
  var error: Failure?
  var explanation: ExplanationJSON?
  var storing: ExplanationJSON?
}
