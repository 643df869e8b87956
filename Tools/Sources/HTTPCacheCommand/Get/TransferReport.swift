import HTTPCaching

/// The result of one URL of `httpcache get`.
struct TransferReport: Sendable {
  /// A response.
  struct Answer: Sendable {
    /// The part of the body that this transfer did not fetch.
    struct Continuation: Sendable, Equatable {
      /// Number of bytes before this transfer.
      var bytes: Int64
      /// Number of bytes that the origin sent; nil if it sent all other bytes.
      var fetched: Int64?
      /// The part file that had the bytes; nil if the cache had them.
      var file: String?
    }

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
    /// The version of HTTP that the origin answered with; nil for a stored response.
    var httpVersion: String?
    /// The length of the body in bytes, if it was known before its end.
    var length: Int64?
    /// The bytes from before this transfer; nil if there were none.
    var continuation: Continuation?
    /// Why an earlier transfer was not continued.
    var restart: String?
    /// Whether the policy forbade asking the origin.
    var isCacheOnly = true
    /// Why the request bypassed the cache, if it did.
    var bypass = CachePolicy.bypass.option
    /// When the seed that answers was made, or last confirmed by the origin; nil for other answers.
    var seedTime: Timestamp?

    /// Whether the origin sent the response.
    var isFromOrigin: Bool { if case .forwarded = outcome { true } else { false } }

    /// Number of bytes of the body, without those that a part file had before.
    var transferred: Int64 { bytes - (continuation?.file == nil ? 0 : continuation?.bytes ?? 0) }

    /// The outcome in words.
    var outcomeText: OutcomeText {
      OutcomeText(
        outcome: outcome, storage: storage, length: length ?? (bytes > 0 ? bytes : nil),
        isCacheOnly: isCacheOnly, bypass: bypass)
    }
  }

  /// Why there is no response.
  struct Failure: Error {
    var status: ExitStatus
    /// The reason, as a message.
    var reason: String
    /// The bytes that are kept, and what the user can do; nil if there is nothing to say.
    var detail: String?
    /// Whether the reason has the number of received bytes.
    var isEarlyEnd = false
    /// Whether a stored response was damaged.
    var isDamage = false
    /// Whether a reader, for example of standard output, may have received a part of the body.
    var isBeyondRecall = false

    /// The message.
    var message: String { detail.map { "\(reason); \($0)" } ?? reason }
  }

  /// How the transfer ended.
  enum Ending: Sendable {
    case answered(Answer)
    case failed(Failure)

    /// A failure that leaves nothing behind.
    static func failed(_ status: ExitStatus, _ reason: String) -> Ending {
      .failed(Failure(status: status, reason: reason))
    }
  }

  let url: String
  let elapsed: Duration
  let ending: Ending
  /// The explanation of the request, from before it was sent.
  var explanation: CacheExplanation?

  /// The exit status for this result.
  ///
  /// - Parameter failing: whether a status of 400 or more is a failure.
  func exitStatus(failing: Bool) -> ExitStatus {
    switch ending {
    case .failed(let failure): failure.status
    case .answered(let answer):
      if case .unsatisfiable = answer.outcome {
        .notStored
      } else if case .digestMismatch = answer.outcomeText.refusal {
        .brokenProtocol
      } else {
        failing && answer.status >= 400 ? .httpError : .success
      }
    }
  }

  /// The outcome as text, without the URL.
  var text: String {
    switch ending {
    case .failed(let failure): return failure.message
    case .answered(let answer):
      var text = continued(answer) ?? answer.outcomeText.line
      if let time = answer.seedTime { text += ", from a seed of \(SeedOptionGroup.time(time))" }
      if let restart = answer.restart { text += ", begun anew: \(restart)" }
      if answer.status >= 400, answer.status != 504 || !isUnsatisfiable {
        text = "status \(answer.status), " + text
      }
      if answer.redirects > 0 {
        text += ", after \(HumanText.count(answer.redirects, "redirect")) at \(answer.finalTarget)"
      }
      return text
    }
  }

  /// A text such as `continued: 257 MiB from the cache, 1.2 GiB fetched`.
  private func continued(_ answer: Answer) -> String? {
    guard let continuation = answer.continuation else { return nil }
    // The origin's bytes are counted in their coding, the body without.
    let fetched = continuation.fetched ?? (answer.bytes - continuation.bytes)
    return "continued: \(HumanText.bytes(continuation.bytes)) from \(continuation.file ?? "the cache"), "
      + "\(HumanText.bytes(fetched)) fetched"
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

  /// The explanations, if requested: of the request, then of storing the response.
  var explanations: String? {
    var parts: [String] = []
    if let explanation { parts.append("\(explanation)") }
    if case .answered(let answer) = ending, let storing = answer.explanation {
      parts.append("Storing\n\(storing)".replacing("\n", with: "\n  "))
    }
    return parts.isEmpty ? nil : parts.joined(separator: "\n")
  }

  /// The report as JSON.
  var json: JSONReport {
    var report = JSONReport(
      url: url, summary: text, milliseconds: HumanText.milliseconds(elapsed).rounded())
    report.explanation = explanation.map(ExplanationJSON.init)
    switch ending {
    case .failed(let failure):
      report.outcome = "error"
      report.error = JSONReport.Failure(kind: "\(failure.status)", message: failure.message)
    case .answered(let answer):
      let outcome = answer.outcomeText
      report.outcome = outcome.word
      report.status = answer.status
      report.httpVersion = answer.httpVersion
      report.headers = JSONReport.headers(answer.head.headerFields)
      report.continuedFrom = answer.continuation.map(\.bytes)
      report.bytes = answer.bytes
      report.finalURL = answer.finalTarget
      report.redirects = answer.redirects
      report.file = answer.file
      report.storing = answer.explanation.map(ExplanationJSON.init)
      report.isStored = outcome.isStored
      report.refusal = outcome.refusal.map { .init(reason: $0.description, section: $0.section) }
      switch answer.outcome {
      case .hit(let age, let lifetime, _), .validated(_, let age, let lifetime),
        .shared(_, let age, let lifetime):
        report.age = age.components.seconds
        report.lifetime = lifetime.components.seconds
      case .forwarded, .unsatisfiable: break
      }
    }
    return report
  }

  private var isUnsatisfiable: Bool {
    if case .answered(let answer) = ending, case .unsatisfiable = answer.outcome { true } else { false }
  }
}
