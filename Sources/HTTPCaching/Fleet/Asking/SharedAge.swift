import HTTPCacheSemantics
import HTTPCacheStore

/// How old a response of a tier was when it answered a request, in seconds.
struct SharedAge: Sendable {
  let age: Int64
  let lifetime: Int64

  /// The outcome of the request.
  func outcome(_ reason: ForwardReason) -> CacheOutcome {
    .shared(reason, age: .seconds(age), lifetime: .seconds(lifetime))
  }
}

extension Conversation {
  /// An answer from the store that the response confirms, with an outcome that names the tier if its response confirmed the answer.
  func seen(_ answer: Exchange.StoredAnswer) -> Exchange.StoredAnswer {
    guard let tierAge else { return answer }
    return Exchange.StoredAnswer(
      index: answer.index, stored: answer.stored, age: answer.age, outcome: tierAge.outcome(forward.reason))
  }
}

extension CacheCounts {
  /// Bytes of a body that was received.
  ///
  /// - Parameter isShared: whether they came from the tier of a fleet, and not from the origin.
  static func received(_ bytes: Int64, isShared: Bool) -> CacheCounts {
    isShared ? CacheCounts(sharedBytes: bytes) : CacheCounts(originBytes: bytes)
  }
}
