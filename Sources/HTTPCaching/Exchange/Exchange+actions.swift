import HTTPCacheSemantics
import HTTPCacheStore
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

  /// The action that follows from the origin's failure.
  enum FailureAction: Sendable {
    case answerStale(StoredAnswer)
    case fail
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
    /// Taken before the request is sent; nil before that.
    let ticket: InvalidationTicket?
    /// Taken at that time, for wipes.
    let wipeTicket: UInt64?

    init(
      _ request: HTTPRequest, _ reason: ForwardReason, validating: [Int], completion: Completion?,
      canLead: Bool, ticket: InvalidationTicket? = nil, wipeTicket: UInt64? = nil
    ) {
      self.request = request
      self.reason = reason
      self.validating = validating
      self.completion = completion
      self.canLead = canLead
      self.ticket = ticket
      self.wipeTicket = wipeTicket
    }

    /// The ticket for a response that is stored under a key.
    ///
    /// - Parameter requestKey: the key of the request; a change of its target affects the response, too.
    func ticket(for key: CacheKey, to requestKey: CacheKey) -> InvalidationTicket? {
      guard key != requestKey, var ticket else { return ticket }
      ticket.requestTarget = requestKey.target
      return ticket
    }

    func with(ticket: InvalidationTicket, wipeTicket: UInt64?) -> Forward {
      Forward(
        request, reason, validating: validating, completion: completion, canLead: canLead,
        ticket: ticket, wipeTicket: wipeTicket)
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

  /// Whether the origin's response is stored, and as what.
  enum Storage: Sendable {
    case store(StoredResponse)
    case doNotStore(StorageRefusal)
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
    let storage: Storage
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
