import HTTPCacheSemantics
package import HTTPCacheStore
package import HTTPTypes

extension HTTPCache {
  /// Invalidates what a request changed that went to the origin another way (RFC 9111 §4.4).
  package func invalidate(after request: HTTPRequest, _ response: HTTPResponse) async {
    await invalidate(Invalidation.targets(request: request, response: response))
  }

  /// Stores a response that came another way, because somebody says so. Where RFC 9111 §3 would not
  /// have stored it, it is marked, so that a request is not answered with it before the origin has
  /// confirmed it; what a shared cache must not have of others is not stored.
  ///
  /// - Parameters:
  ///   - body: all of it, or the part that `Content-Range` tells of.
  ///   - isDecoded: whether the bytes are not those that were sent.
  package func adopt(
    _ response: HTTPResponse, body: BodyBytes, to request: HTTPRequest, isDecoded: Bool,
    userInfo: [UInt8], isMemoryOnly: Bool
  ) async {
    guard let (key, _, rules) = place(of: request) else { return }
    do throws(CacheError) {
      switch adopted(
        response, body: body, to: request, key: key, rules: rules, isDecoded: isDecoded,
        userInfo: userInfo, isMemoryOnly: isMemoryOnly)
      {
      case .refused(let refusal): notStored(refusal, response, to: request, key: key)
      case .made(let record):
        let writer = try await store.write(record, variantLimit: rules.variantLimit)
        try await writer.append(body)
        try await writer.commit(trailers: [:])
        store.count(CacheCounts(stores: 1))
        observe(.stored(key, bytes: Int64(body.count)))
      }
    } catch {
      if error.code != .tooLarge { observe(.storeFailed(operation: "store", error)) }
      notStored(refusal(of: error), response, to: request, key: key)
    }
  }

  private enum Adoption {
    case made(CacheRecord)
    case refused(StorageRefusal)
  }

  private func adopted(
    _ response: HTTPResponse, body: BodyBytes, to request: HTTPRequest, key: CacheKey,
    rules: CacheRules, isDecoded: Bool, userInfo: [UInt8], isMemoryOnly: Bool
  ) -> Adoption {
    let now = configuration.clock.now
    var isDistrusted = false
    switch Storability.decide(request: request, response: response, rules: rules, now: now) {
    case .store: break
    case .doNotStore(let refusal):
      switch refusal {
      case .privateInShared, .authorized, .partialContent, .malformed, .interim, .method,
        .statusNotStored:
        return .refused(refusal)
      default: isDistrusted = true
      }
    }
    var stored: StoredResponse
    switch StoredResponse.make(
      request: request, response: response, requestTime: now, responseTime: now,
      isDecoded: isDecoded, rules: rules, digest: digest)
    {
    case .made(let made): stored = made
    case .refused(let refusal): return .refused(refusal)
    }
    if isDistrusted { stored.isInvalidated = true }
    let part = PartialContent.part(of: response)
    if let part, part.range.count != body.count { return .refused(.incomplete) }
    return .made(
      CacheRecord(
        key: key, response: stored, bodyLength: part == nil ? Int64(body.count) : part?.length,
        storedRanges: part.map { [$0.range] }, groups: CacheGroups.names(of: response),
        userInfo: userInfo, isMemoryOnly: isMemoryOnly,
        isResumable: PartialContent.isResumable(stored)))
  }

  /// Where responses to a request are stored, and the rules for it; nil for one that has no place.
  private func place(of request: HTTPRequest) -> (CacheKey, target: String, CacheRules)? {
    guard let target = CacheKey.target(of: request) else { return nil }
    let rules = configuration.rules.resolved(for: request, target: target)
    return (CacheKey(request: request, target: target, rules: rules, partition: ""), target, rules)
  }

  /// What is stored for a request, however old, for `Range` cut out of it; conditions do not count.
  /// Nil if nothing is, or only a part of what is asked for.
  ///
  /// - Parameter mayUse: whether a stored response will do.
  package func stored(
    for request: HTTPRequest, where mayUse: (StoredResponse) -> Bool = { _ in true }
  ) -> (response: CacheResponse, record: CacheRecord)? {
    guard request.method == .get || request.method == .head,
      let (key, target, rules) = place(of: request)
    else { return nil }
    var request = request
    for name in [
      HTTPField.Name.ifMatch, .ifNoneMatch, .ifModifiedSince, .ifUnmodifiedSince,
    ] { request.headerFields[name] = nil }
    var variants: [StoredVariant] = []
    do throws(CacheError) { variants = try stored(for: key, rules: rules) } catch {
      observe(.storeFailed(operation: "read", error))
    }
    variants.removeAll { variant in
      // Nobody here takes off a content coding.
      guard variant.record.response.hasForm(decoded: true, encoded: false),
        let response = variant.record.response.seen(by: rules)
      else { return true }
      return !mayUse(response)
    }
    let now = configuration.clock.now
    while case .selected(let index) = Vary.select(
      among: variants.map(\.record.response), for: request, rules: rules, digest: digest)
    {
      let variant = variants.remove(at: index)
      let stored = variant.record.response
      let age = Age.current(stored, now: now)
      let lifetime = stored.facts.freshnessLifetime
      let outcome = CacheOutcome.hit(
        age: age, lifetime: lifetime, allowance: age < lifetime ? nil : .policy(.cacheElseNetwork))
      if let response = answer(
        stored, head: stored.head, outcome: outcome, variant, to: request,
        features: RequestFeatures(request.headerFields), key: key, target: target,
        now: now)
      {
        return (response, variant.record)
      }
    }
    return nil
  }
}
