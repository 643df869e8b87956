import HTTPCacheSemantics
import HTTPTypes

extension Exchange {
  /// The action that follows from the request alone.
  enum StartAction: Sendable {
    case lookUp
    case forward(Forward)
    case refuse(UnsatisfiableReason)
  }

  /// The action that follows from what is stored.
  enum LookAction: Sendable {
    case answer(StoredAnswer, validateInBackground: Bool)
    case forward(Forward)
    case refuse(UnsatisfiableReason)
  }

  /// The action that follows from the origin's head.
  enum ResponseAction: Sendable {
    /// Write the updated candidates at these indices, then answer.
    case freshen([Int], StoredAnswer)
    case forwardAgain(Forward)
    /// Add the 206 to what is stored, and answer from both.
    case combine(Combination)
    /// Answer from the store as it is now.
    case answerStale
    /// The answer contradicts itself or what is stored: it counts as a broken one.
    case contradictory(UpstreamError)
    case deliver(Delivery)
  }

  /// A request to send to the origin.
  final class Forward: Sendable {
    let request: HTTPRequest
    let reason: ForwardReason
    /// Indices of the candidates whose validators the request carries.
    let validating: [Int]
    /// The missing part of an incomplete candidate that the request asks for; nil if it asks for none.
    let completion: Completion?
    let canLead: Bool

    init(
      _ request: HTTPRequest, _ reason: ForwardReason, validating: [Int], completion: Completion?,
      canLead: Bool
    ) {
      self.request = request
      self.reason = reason
      self.validating = validating
      self.completion = completion
      self.canLead = canLead
    }
  }

  struct StoredAnswer: Sendable {
    let index: Int
    let stored: StoredResponse
    /// In seconds; nil for an answer that does not tell its age.
    let age: Int64?
    let outcome: CacheOutcome

    /// The head of the complete response, with its age.
    var head: HTTPResponse { age.map { stored.head(age: $0) } ?? stored.head }
  }

  /// A stored response that the origin's response changes.
  struct RecordUpdate: Sendable {
    let index: Int
    let response: StoredResponse
    /// Whether the record gets new fields; else it is only invalidated.
    var isFreshening = false
  }

  /// The origin's response for the caller, and the changes of the store that follow from it.
  struct Delivery: Sendable {
    /// The response as it is stored, or why it is not stored.
    let storage: Result<StoredResponse, StorageRefusal>
    /// The normalised target URIs to invalidate.
    var invalidated: [String] = []
    var invalidatedGroups: [String] = []
    var updates: [RecordUpdate] = []
    /// Whether to remove everything stored for the key.
    var isGone = false

    /// Whether it changes stored responses, besides storing this response.
    var changesStored: Bool { isGone || !invalidated.isEmpty || !invalidatedGroups.isEmpty }
  }
}
