import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes

extension Exchange {
  /// What follows from the request alone.
  enum StartAction: Sendable {
    case lookUp
    case forward(Forward)
    case refuse(UnsatisfiableReason)
  }

  /// What follows from what is stored.
  enum LookAction: Sendable {
    case answer(StoredAnswer, validateInBackground: Bool)
    case forward(Forward)
    case refuse(UnsatisfiableReason)
  }

  /// What follows from the origin's head.
  enum ResponseAction: Sendable {
    /// Write the updated candidates at these indices, then answer.
    case freshen([Int], StoredAnswer)
    case forwardAgain(Forward)
    /// Add the 206 to what is stored, and answer from both.
    case combine(Combination)
    case answerStale(StoredAnswer)
    case deliver(Delivery)
  }

  /// What follows from the origin's failure.
  enum FailureAction: Sendable {
    case answerStale(StoredAnswer)
    case fail
  }

  /// A request for the origin.
  struct Forward: Sendable {
    let request: HTTPRequest
    let reason: ForwardReason
    /// Indices of the candidates whose validators it carries.
    let validating: [Int]
    /// What of an incomplete candidate it asks for; nil if it does not.
    let completion: Completion?
    let canLead: Bool
    /// Taken before the request is sent; nil before that.
    var ticket: InvalidationTicket?
    /// Taken at the same time, of what this cache removes for good.
    var wipeTicket: InvalidationTicket?
  }

  /// An answer from the store.
  struct StoredAnswer: Sendable {
    let index: Int
    let stored: StoredResponse
    let age: Int64
    let outcome: CacheOutcome
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
    /// Whether it gets new fields, and is not just marked as invalidated.
    var isFreshening = false
  }

  /// The origin's response for the caller, and what it does to the store.
  struct Delivery: Sendable {
    let storage: Storage
    var invalidated: [InvalidationTarget] = []
    var invalidatedGroups: [String] = []
    var updates: [RecordUpdate] = []
    /// Whether everything stored for the key is to be removed.
    var isGone = false

    /// Whether it changes more than the response that it stores.
    var changesStored: Bool { isGone || !invalidated.isEmpty || !invalidatedGroups.isEmpty }
  }
}
