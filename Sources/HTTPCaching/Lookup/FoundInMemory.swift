import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes

/// A response in memory that may answer a request.
struct FoundInMemory {
  let asked: AskedRequest
  /// All variants of the key.
  let stored: [StoredVariant]
  let variant: StoredVariant
  /// The response of `variant`, seen by the rules.
  let response: StoredResponse
  let outcome: CacheOutcome
  /// The generation of the key before the look-up; nil unless the response is to be used again (`AnswerMaker.isUnchanged`).
  let generation: Generation?

  /// The head of the complete response, with its age.
  var head: HTTPResponse { variant.record.head(age: outcome.age?.wholeSeconds ?? 0) }
}
