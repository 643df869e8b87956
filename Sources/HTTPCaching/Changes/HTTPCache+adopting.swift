import HTTPCacheSemantics
package import HTTPCacheStore
package import HTTPTypes

extension HTTPCache {
  /// Invalidates what a request changed that did not go to the origin through this cache (RFC 9111 §4.4), and
  /// the groups that its response names (RFC 9875 §3).
  package func invalidate(after request: HTTPRequest, _ response: HTTPResponse) async {
    await invalidate(Invalidation.targets(request: request, response: response))
    if let target = CacheKey.target(of: request) {
      await invalidate(
        groups: CacheGroups.invalidated(request: request, response: response), of: target)
    }
  }

  /// Why the cache's offline state forbids a request outside the cache; nil if the request may be sent. Tells
  /// the observer.
  package func refusalWhileOffline(of request: HTTPRequest) -> UpstreamError? {
    offlineReason.map { notAsked(CacheKey.target(of: request) ?? "", $0) }
  }

  /// Stores a response that the caller fetched outside this cache and asks to store. If RFC 9111 §3 does not
  /// allow storing it, it is stored as invalidated: it answers no request before the origin has confirmed it.
  /// It is not stored if it must not be in a shared cache, or if an override or the cache's hook forbids it.
  ///
  /// - Parameters:
  ///   - partition: as in `RequestOptions.partition`.
  ///   - turn: where the hook runs.
  /// - Returns: why the response is not stored; nil if it is.
  @discardableResult
  package func adopt(
    _ adopted: AdoptedResponse, to request: HTTPRequest, partition: String = "", asking turn: HookTurn
  ) async -> StorageRefusal? {
    guard let (key, target, rules) = place(of: request, in: partition) else {
      return request.namesOtherHost ? .policy : .method(request.method)
    }
    let response = adopted.head
    await retryFailedChanges()
    let ticket = store.ticket()
    let hook = configuration.willStore
    let refuse = { (refusal: StorageRefusal) -> StorageRefusal in
      self.notStored(
        refusal, response, to: request, key: key,
        isConfidential: adopted.isMemoryOnly || hook != nil)
      return refusal
    }
    let stored: StoredResponse
    switch make(adopted, to: request, rules: rules) {
    case .refused(let refusal): return refuse(refusal)
    case .made(let made): stored = made
    }
    var terms = StoringTerms(
      response: stored, userInfo: adopted.userInfo, isPinned: rules.pins(response),
      isMemoryOnly: adopted.isMemoryOnly)
    if let hook {
      let question = HookQuestion(
        hook: hook, request: request, key: key, target: target, rules: rules, turn: turn)
      switch await decision(on: terms, question) {
      case .store(let decided): terms = decided
      case .refuse(let refusal): return refuse(refusal)
      }
    }
    let record = terms.record(for: key, head: response, length: adopted.length, ticket: ticket)
    do throws(CacheError) {
      let writer = try await store.write(record, variantLimit: rules.variantLimit)
      if let algorithm = try await append(adopted, to: writer) {
        writer.abandon()
        return refuse(.digestMismatch(algorithm: algorithm.rawValue))
      }
      try await writer.commit(trailers: [:])
      store.count(CacheCounts(stores: 1))
      observe(.stored(key, bytes: adopted.length))
      return nil
    } catch {
      if terms.isMemoryOnly, error.code == .invalidRequest { return refuse(.memoryOnly) }
      if ![.tooLarge, .notAdmitted, .superseded].contains(error.code) {
        observe(.storeFailed(operation: "store", error))
      }
      return refuse(refusal(of: error))
    }
  }

  private func make(
    _ adopted: AdoptedResponse, to request: HTTPRequest, rules: CacheRules
  ) -> StoredResponse.Making {
    let response = adopted.head
    let now = configuration.clock.now
    var isDistrusted = false
    switch Storability.decide(request: request, response: response, rules: rules, now: now) {
    case .store: break
    case .doNotStore(let refusal):
      switch refusal {
      case .privateInShared, .authorized, .setCookie, .credentials, .clientError, .content, .partialContent,
        .malformed, .interim,
        .method, .statusNotStored, .override:
        return .refused(refusal)
      case .statusNotUnderstood, .responseNoStore, .noStoreDespiteOverride, .requestNoStore, .notCacheable,
        .neverReusable, .varyAny, .varySecret, .clearsSite, .digestMismatch, .policy, .tooLarge, .notAdmitted,
        .superseded, .upstream,
        .hook, .hookFailed, .hookTimedOut, .memoryOnly, .incomplete, .storeFailed:
        isDistrusted = true
      }
    }
    if let part = PartialContent.part(of: response), part.range.count != adopted.length {
      return .refused(.incomplete)
    }
    let making = StoredResponse.make(
      request: request, response: ReceivedResponse(response, requestTime: now, responseTime: now),
      isDecoded: adopted.isDecoded, rules: rules, digest: digest)
    if isDistrusted, case .made(let made) = making { return .made(made.invalidated) }
    return making
  }

  /// Removes everything stored in a partition for the target of a request, under each of its names.
  package func removeStored(for request: HTTPRequest, partition: String = "") async {
    guard let (key, _, rules) = place(of: request, in: partition) else { return }
    for removed in await removeAll(of: key, rules: rules) { observe(.removed(removed, .requested)) }
  }

  /// Lets the next request complete an incomplete response although the last completion brought nothing. For a
  /// caller that knows that the connection broke, and that bounds its attempts.
  package func mayCompleteAgain(_ request: HTTPRequest) {
    guard let (key, _, _) = place(of: request, in: "") else { return }
    failedCompletions.remove(key)
  }

  /// The key for responses to a request, and the rules for it; nil for a request that has no key, and for one whose
  /// `Host` is not that of its URI.
  private func place(
    of request: HTTPRequest, in partition: String
  ) -> (CacheKey, target: String, CacheRules)? {
    guard let target = CacheKey.target(of: request), !request.namesOtherHost else { return nil }
    let rules =
      configuration.rules.isPlain
      ? configuration.rules : configuration.rules.resolved(for: request, target: target)
    let key = CacheKey(request: request, target: target, rules: rules, partition: partition)
    return (key, target, rules)
  }

  /// The stored response to a request, whatever its age, with the request's `Range` applied; conditions are
  /// ignored. Nil if nothing is stored, or less than the request asks for.
  ///
  /// - Parameters:
  ///   - partition: as in `RequestOptions.partition`.
  ///   - forms: the forms of the body that the caller can use.
  ///   - mayUse: whether the caller accepts a stored response.
  package func stored(
    for request: HTTPRequest, partition: String = "", in forms: BodyForms = .decoded,
    where mayUse: (StoredResponse) -> Bool = { _ in true }
  ) -> (response: CacheResponse, record: CacheRecord)? {
    guard request.method == .get || request.method == .head,
      let (key, target, rules) = place(of: request, in: partition)
    else { return nil }
    var features = RequestFeatures(request.headerFields)
    if features.contains(.content) { return nil }
    var request = request
    if !features.isDisjoint(with: [.conditions, .originConditions]) {
      for name in [
        HTTPField.Name.ifMatch, .ifNoneMatch, .ifModifiedSince, .ifUnmodifiedSince,
      ] { request.headerFields[name] = nil }
      features.subtract([.conditions, .originConditions])
    }
    var variants: [StoredVariant] = []
    do throws(CacheError) { variants = try stored(for: key, rules: rules) } catch {
      observe(.storeFailed(operation: "read", error))
    }
    let isUsable = { (variant: StoredVariant) in
      variant.record.response.isIn(forms) && variant.record.response.seen(by: rules).map(mayUse) ?? false
    }
    // Most often there is one variant, and it may be used.
    if !variants.allSatisfy(isUsable) { variants = variants.filter(isUsable) }
    let now = configuration.clock.now
    while let (variant, _) = selected(among: variants, for: request, rules: rules) {
      guard let stored = variant.record.response.seen(by: rules) else { return nil }
      let age = Age.current(stored, now: now)
      let lifetime = stored.facts.freshnessLifetime
      // A response that would need validation is used here only because the caller asks for it.
      let isFresh =
        age < lifetime && !stored.isInvalidated && !stored.facts.directives.contains(.noCache)
      let outcome = CacheOutcome.hit(
        age: .seconds(age), lifetime: .seconds(lifetime),
        allowance: isFresh ? nil : .policy(.cacheElseNetwork))
      if var response = answer(
        stored, head: stored.head, outcome: outcome, variant,
        to: AskedRequest(request: request, features: features, key: key, target: target, now: now))
      {
        response.shareHead(of: variant.record, for: request)
        return (response, variant.record)
      }
      variants.removeAll { $0.record === variant.record }
    }
    return nil
  }
}
