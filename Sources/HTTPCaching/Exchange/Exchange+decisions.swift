import HTTPCacheSemantics
import HTTPTypes

extension Exchange {
  /// Why the request's content forbids an answer from the store, whatever is stored; nil if nothing does.
  var contentMiss: MissReason? {
    if let obstacle = content?.obstacle { return .content(obstacle) }
    if hasBody, request.method == .get || request.method == .head {
      return .content(.undefinedSemantics(request.method))
    }
    if case .content(let obstacle)? = Reuse.methodMiss(request, features: features) {
      return .content(obstacle)
    }
    return nil
  }

  /// Why the request cannot be answered from the store, whatever is stored; nil if it can.
  var requestMiss: MissReason? { contentMiss ?? Reuse.methodMiss(request, features: features) }

  mutating func decide(_ index: Int, now: Timestamp) -> LookAction {
    let stored = candidates[index]
    if takesAnyAge {
      let (age, lifetime) = stored.ageAndLifetime(now: now)
      let isFresh =
        age < lifetime && !stored.isInvalidated && !stored.facts.directives.contains(.noCache)
      return .answer(
        answer(index, allowance: isFresh ? nil : .policy(.cacheElseNetwork), now: now),
        validateInBackground: false)
    }
    switch Reuse.decide(
      stored: stored, request: request, directives: directives, policy: policy, rules: rules,
      now: now)
    {
    case .fresh:
      return .answer(answer(index, allowance: nil, now: now), validateInBackground: false)
    case .stale(.window(.staleWhileRevalidate), let age, let lifetime)
    where !validatesInBackground && !directives.onlyIfCached:
      return .forward(
        makeForward(
          .validation(.stale(age: age, lifetime: lifetime)), validating: validators(preferring: index)))
    case .stale(let allowance, _, _):
      return .answer(
        answer(index, allowance: allowance, now: now),
        validateInBackground: allowance == .window(.staleWhileRevalidate))
    case .validate(let reason):
      return .forward(makeForward(.validation(reason), validating: validators(preferring: index)))
    case .miss(let reason):
      selected = nil
      return .forward(makeForward(.miss(reason)))
    case .unsatisfiable(let reason): return .refuse(reason)
    }
  }

  mutating func missed(_ reason: MissReason) -> LookAction {
    if case .unsatisfiable(let refusal) = whenMissing(reason) { return .refuse(refusal) }
    var validating: [Int] = []
    if case .variantMismatch = reason { validating = candidates.indices.filter(mayName) }
    return .forward(makeForward(.miss(reason), validating: validating))
  }

  func whenMissing(_ reason: MissReason) -> ReuseDecision {
    Reuse.whenMissing(reason, directives: directives, policy: policy)
  }

  /// The selected candidate, and each other candidate whose entity tag the origin may confirm.
  func validators(preferring index: Int) -> [Int] {
    let hasValidator = Validation.hasValidator(candidates[index])
    // A date is ignored next to entity tags (RFC 9110 §13.1.3).
    if hasValidator, candidates[index].head.headerFields[.eTag] == nil { return [index] }
    return (hasValidator ? [index] : []) + candidates.indices.filter { $0 != index && mayName($0) }
  }

  /// Whether a validation may name a candidate that is not the selected one, by its entity tag.
  func mayName(_ index: Int) -> Bool {
    guard part(index) == nil, candidates[index].head.headerFields[.eTag] != nil,
      Reuse.isConfirmable(candidates[index], for: request, policy: policy, rules: rules)
    else { return false }
    if matches(index) { return true }
    return Vary.mayName(candidates[index], for: request, rules: rules, digest: digest)
      && Validation.mayName(mismatched: index, among: candidates, for: request)
  }
}

extension Exchange {
  /// Whether an answer comes in place of the resource, and leaves the stored response as it is.
  ///
  /// A response that is fresh, or has a validator and is no error, replaces the stored one: the origin means it.
  /// Otherwise it does so if its status says that the resource changed or is gone. A captive portal answers `http`
  /// requests with a page of its own, without either: the rule here takes HTML in place of another media type for it.
  private func isInsteadOfStored(_ received: ReceivedResponse) -> Bool {
    let response = received.head
    guard request.method == .get, let index = matched ?? matching.first, part(index) == nil,
      (200..<300).contains(candidates[index].head.status.code)
    else { return false }
    let status = response.status.code
    if Self.isChanged(status) {
      guard status == 200, target.hasPrefix("http:"), Self.isPage(response),
        !Self.isPage(candidates[index].head),
        candidates[index].head.headerFields.contains(.contentType), !response.headerFields.contains(.eTag),
        !response.headerFields.contains(.lastModified)
      else { return false }
    } else if status >= 500 || status < 300 {
      return false
    }
    let facts = Freshness.facts(
      response: response, requestTime: received.requestTime, responseTime: received.responseTime,
      rules: rules)
    return facts.freshnessLifetime <= facts.correctedInitialAge
  }

  /// Whether a success without a representation, such as 204, comes in place of the rest of a part: the part stays until
  /// the whole has come.
  private func isInsteadOfRest(_ response: HTTPResponse) -> Bool {
    hasAskedForRest && PartialContent.hasNoRepresentation(status: response.status.code)
  }

  private static func isPage(_ response: HTTPResponse) -> Bool {
    let type = response.headerFields[.contentType]?.prefix { $0 != ";" }.lowercased() ?? ""
    return ["text/html", "application/xhtml+xml"].contains { type.hasPrefix($0) }
  }

  /// The origin's response as it is stored.
  ///
  /// - Parameter refusal: the upstream's reason not to store it.
  func stored(
    _ received: ReceivedResponse, isDecoded: Bool, refusal: StorageRefusal?
  ) throws(StorageRefusal) -> StoredResponse {
    let response = received.head
    if policy == .bypass { throw .policy }
    if isStoredWhole(response, receivedAt: received.responseTime) { throw .partialContent }
    // A 200 that names a range answers the range that was asked for: it is no whole representation.
    if forward?.request.headerFields[.range] != nil, PartialContent.rangeOfWhole(response) != nil {
      throw .partialContent
    }
    switch request.method {
    case .get, .post, .query: break
    default: throw .method(request.method)
    }
    if clearsSite(response) { throw .clearsSite }
    if case .content(let obstacle)? = contentMiss { throw .content(obstacle) }
    if isInsteadOfStored(received) || isInsteadOfRest(response) {
      throw .insteadOfStored(status: response.status.code)
    }
    return try storedByResponseAlone(received, to: request, isDecoded: isDecoded, refusal: refusal)
  }

  /// The response as it is stored, decided by the response alone, whatever else is stored.
  ///
  /// - Parameter request: the request of this exchange, or that request with another method.
  func storedByResponseAlone(
    _ response: ReceivedResponse, to request: HTTPRequest, isDecoded: Bool, refusal: StorageRefusal? = nil
  ) throws(StorageRefusal) -> StoredResponse {
    let directives = ResponseDirectives(of: response.head, rules: rules)
    try Storability.check(
      request: request, response: response.head, directives: directives, rules: rules,
      now: response.responseTime)
    if let refusal { throw refusal }
    return keyed(
      try StoredResponse.make(
        request: request, response: response, directives: directives, isDecoded: isDecoded, rules: rules,
        digest: digest))
  }

  /// Whether a response asks to remove what is stored of its origin (W3C Clear Site Data).
  func clearsSite(_ response: HTTPResponse) -> Bool {
    ClearSiteData.clearsCache(response, target: key.target, rules: rules)
  }
}
