public import HTTPCacheSemantics
public import HTTPCacheStore
public import HTTPTypes

extension HTTPCache {
  /// Why responses to this request were not stored, latest first. The store keeps a bounded number of these
  /// notes.
  ///
  /// - Parameters:
  ///   - request: with scheme, authority and path.
  ///   - content: the content of a QUERY, which is part of its key (RFC 10008 §2.7).
  ///   - options: the partition.
  /// - Throws: `CacheError` for a request without an absolute URI, or if the store cannot be read.
  public func refusals(
    of request: HTTPRequest, content: BodyBytes = BodyBytes(),
    options: RequestOptions = RequestOptions()
  ) throws(CacheError) -> [RefusalNote] {
    let content = request.method == .query ? self.content(of: request, content) : nil
    let exchange = try exchange(
      for: request, hasBody: false, policy: .standard, options, content: content)
    return try store.refusals(of: exchange.key)
  }

  /// A response was not stored: tells the observer, and keeps a note of the reason.
  ///
  /// - Parameter isConfidential: whether a hook may have forbidden to keep anything of the response on disk.
  func notStored(
    _ refusal: StorageRefusal, _ response: HTTPResponse, to request: HTTPRequest, key: CacheKey,
    isConfidential: Bool = false
  ) {
    observe(.notStored(target: CacheKey.target(of: request) ?? key.target, refusal))
    let now = configuration.clock.now
    guard isNoted(refusal, method: request.method),
      refusalLimit.allows(refusal, status: response.status.code, key: key, now: now)
    else { return }
    store.note(
      RefusalNote(
        key: key, time: now, status: response.status.code,
        explanation: isConfidential
          ? CacheExplanation.refusal(refusal)
          : CacheExplanation.note(
            of: refusal, request: request, response: response, rules: configuration.rules, now: now)))
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
      .partialContent, .content, .digestMismatch, .clientError,
      .override, .policy, .tooLarge, .notAdmitted, .superseded, .incomplete, .storeFailed:
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
