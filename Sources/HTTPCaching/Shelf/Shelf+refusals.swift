public import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes

extension Shelf {
  /// A response was not stored: tells the observer, and keeps a note of the reason.
  ///
  /// - Parameters:
  ///   - rules: the rules that decided; a request may have other rules than the cache. Nil if a hook may have forbidden
  ///     to keep anything of the response on disk.
  ///   - ticket: the ticket of the request. No note is kept if its partition was wiped afterwards.
  func notStored(
    _ refusal: StorageRefusal, _ response: HTTPResponse, to request: HTTPRequest, key: CacheKey,
    rules: CacheRules?, ticket: InvalidationTicket?
  ) {
    observers.tell(.notStored(target: CacheKey.target(of: request) ?? key.target, refusal))
    let now = configuration.clock.now
    guard isNoted(refusal, method: request.method),
      refusalLimit.allows(refusal, status: response.status.code, key: key, now: now),
      !(ticket.map { store.isWiped(key, since: $0) } ?? false)
    else { return }
    store.note(
      RefusalNote(
        key: key, time: now, status: response.status.code,
        explanation: rules.map {
          CacheExplanation.note(of: refusal, request: request, response: response, rules: $0, now: now)
        } ?? CacheExplanation.refusal(refusal)))
  }

  /// Why the store did not take a response, in the terms of its notes. Tells the observer of a failure of the store.
  ///
  /// - Parameter isMemoryOnly: whether the response must not be written to disk.
  func refusal(of error: CacheError, isMemoryOnly: Bool) -> StorageRefusal {
    if isMemoryOnly, error.code == .invalidRequest { return .memoryOnly }
    if error.code == .notAdmitted { return .notAdmitted }
    if error.code == .superseded { return .superseded }
    if error.code == .wiped { return .wiped }
    guard error.code == .tooLarge else {
      observers.tell(.storeFailed(operation: "store", error))
      return .storeFailed
    }
    let usage = store.usage
    // The store that takes a response first has the limit, however large the other one is.
    let isOnDisk = usage.diskCapacity > 0 && !isMemoryOnly
    let capacity = isOnDisk ? usage.diskCapacity : usage.memoryCapacity
    // If the directory could not be opened, the capacity is 0 and every response is too large.
    guard capacity > 0 else { return .storeFailed }
    let largest = isOnDisk ? configuration.largestEntry : configuration.largestEntry.inMemory
    return .tooLarge(limit: largest.bytes(of: capacity))
  }

  /// Whether a refusal is worth a note: not for methods that are never stored, nor if the caller asked to store
  /// nothing.
  private func isNoted(_ refusal: StorageRefusal, method: HTTPRequest.Method) -> Bool {
    if case .method = refusal { return false }
    return refusal != .policy && (method == .get || method == .query || method == .head)
  }
}

extension CacheExplanation {
  /// Ends an explanation of storing with a reason: the head may have allowed storing, and the body prevented
  /// it.
  ///
  /// - Parameter reason: as `refusal(_:)` makes it.
  public mutating func conclude(refusedFor reason: CacheExplanation) {
    steps.removeAll { step in reason.steps.contains { $0.question == step.question } }
    steps += reason.steps
  }

  /// The part of the explanation that may be kept for a response that was not stored. With "no-store", only
  /// that reason is kept, and nothing of the messages (RFC 9111 §5.2.1.5, §5.2.2.5).
  static func note(
    of refusal: StorageRefusal, request: HTTPRequest, response: HTTPResponse, rules: CacheRules,
    now: Timestamp
  ) -> CacheExplanation {
    let reason = CacheExplanation.refusal(refusal)
    // A cache must not keep a note of content that it must not store (RFC 9111 §5.2.2.7, §3.5).
    switch refusal {
    case .privateInShared, .authorized, .setCookie, .credentials, .varySecret, .clearsSite, .upstream, .hook,
      .hookFailed,
      .hookTimedOut, .memoryOnly:
      return reason
    case .method, .interim, .statusNotUnderstood, .statusNotStored, .responseNoStore,
      .noStoreDespiteOverride, .requestNoStore, .notCacheable, .neverReusable, .varyAny, .malformed,
      .redirectToItself, .partialContent, .content, .insteadOfStored, .digestMismatch, .clientError,
      .override, .policy, .tooLarge, .notAdmitted, .superseded, .wiped, .incomplete, .storeFailed:
      break
    }
    guard !RequestDirectives(request.headerFields).noStore,
      !ResponseDirectives(response.headerFields, rules: rules).noStore
    else { return reason }
    var explanation = CacheExplanation.storage(
      request: request, response: response, rules: rules, now: now)
    explanation.conclude(refusedFor: reason)
    return explanation
  }
}
