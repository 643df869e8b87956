public import HTTPTypes

/// A stored response as the rules see it: no body, no place, no clock.
public struct StoredResponse: Sendable, Hashable {
  /// The method of the request it answered.
  public var requestMethod: HTTPRequest.Method
  /// The request fields that `Vary` nominated, with their values.
  public var nominated: [NominatedField]
  /// Status and fields, without those that must not be stored (RFC 9111 §3.1).
  public var head: HTTPResponse
  /// Trailer fields, kept apart from the header (RFC 9110 §6.5.1).
  public var trailers: HTTPFields
  /// When the request was sent.
  public var requestTime: Timestamp
  /// When the response arrived.
  public var responseTime: Timestamp
  /// Whether the request carried `Authorization` (RFC 9111 §3.5).
  public var answeredAuthorized: Bool
  /// Whether the content coding was removed from the body before storing.
  public var isDecoded: Bool
  /// Whether it was invalidated: it is validated before any reuse (RFC 9111 §4.4).
  public var isInvalidated: Bool
  /// Whether an operator ended its lifetime: it is stale, and is used as stale responses are (RFC 9111 §4.2.4).
  public var isExpired: Bool
  /// The request's `Range`, kept if the stored part is not what its `Content-Range` announced: only a request
  /// with this `Range` gets the part again. Otherwise nil.
  public var requestedRange: String?
  /// The facts about reuse that follow from the properties above.
  public var facts: ReuseFacts
  /// Equal for equal overrides that changed the key; 0 if the key has the requested target.
  public var keyFingerprint: UInt64

  /// Makes a stored response without trailers that no override affects; `StoredResponse.make` derives one from
  /// an exchange.
  public init(
    requestMethod: HTTPRequest.Method, nominated: [NominatedField], head: HTTPResponse,
    requestTime: Timestamp, responseTime: Timestamp, facts: ReuseFacts
  ) {
    self.init(
      requestMethod: requestMethod, nominated: nominated, head: head, trailers: [:],
      requestTime: requestTime, responseTime: responseTime, answeredAuthorized: false, isDecoded: false,
      isInvalidated: false, isExpired: false, requestedRange: nil, facts: facts, keyFingerprint: 0)
  }

  /// Makes a stored response from all its properties.
  public init(
    requestMethod: HTTPRequest.Method, nominated: [NominatedField], head: HTTPResponse,
    trailers: HTTPFields, requestTime: Timestamp, responseTime: Timestamp, answeredAuthorized: Bool,
    isDecoded: Bool, isInvalidated: Bool, isExpired: Bool, requestedRange: String?, facts: ReuseFacts,
    keyFingerprint: UInt64
  ) {
    self.requestMethod = requestMethod
    self.nominated = nominated
    self.head = head
    self.trailers = trailers
    self.requestTime = requestTime
    self.responseTime = responseTime
    self.answeredAuthorized = answeredAuthorized
    self.isDecoded = isDecoded
    self.isInvalidated = isInvalidated
    self.isExpired = isExpired
    self.requestedRange = requestedRange
    self.facts = facts
    self.keyFingerprint = keyFingerprint
  }
}

/// The head of a response as it arrived, and the times that its age is counted from (RFC 9111 §4.2.3).
public struct ReceivedResponse: Sendable, Hashable {
  /// The head.
  public var head: HTTPResponse
  /// When the request was sent.
  public var requestTime: Timestamp
  /// When the head arrived.
  public var responseTime: Timestamp

  /// Makes a response.
  public init(_ head: HTTPResponse, requestTime: Timestamp, responseTime: Timestamp) {
    self.head = head
    self.requestTime = requestTime
    self.responseTime = responseTime
  }
}

extension StoredResponse {
  /// Makes the stored response of an exchange that `Storability.decide` allows to store.
  ///
  /// Drops fields that must not be stored (RFC 9111 §3.1), replaces a missing or invalid `Date` (RFC 9110
  /// §6.6.1), keeps the nominated request fields (§4.1), and computes the facts about reuse.
  ///
  /// - Parameters:
  ///   - request: the request as it was forwarded.
  ///   - received: the head as it arrived, and its times.
  ///   - isDecoded: whether the content coding was removed from the body; the fields that describe the coded
  ///     octets are then dropped.
  ///   - rules: the choices of the cache.
  ///   - digest: makes the digest of a secret value that `Vary` nominates.
  /// - Throws: why the response cannot be stored: no request could select it again (§4.1), or it is a part whose content
  ///   coding was removed (§3.3).
  public static func make(
    request: HTTPRequest, response received: ReceivedResponse, isDecoded: Bool, rules: CacheRules,
    digest: SecretDigest
  ) throws(StorageRefusal) -> StoredResponse {
    let rules = rules.resolved(for: request)
    return try make(
      request: request, response: received, directives: ResponseDirectives(of: received.head, rules: rules),
      isDecoded: isDecoded, rules: rules, digest: digest)
  }

  /// Like `make(request:response:isDecoded:rules:digest:)`, with resolved rules and the directives that they find.
  package static func make(
    request: HTTPRequest, response received: ReceivedResponse, directives: ResponseDirectives,
    isDecoded: Bool, rules: CacheRules, digest: SecretDigest
  ) throws(StorageRefusal) -> StoredResponse {
    let (response, responseTime) = (received.head, received.responseTime)
    let nominated: [NominatedField]
    switch Vary.nominated(by: response, in: request, rules: rules, digest: digest) {
    case .fields(let fields): nominated = fields
    case .any: throw .varyAny
    case .secretWithoutDigest(let name): throw .varySecret(name)
    case .malformed: throw .malformed("Vary")
    }
    if isDecoded, response.status.code == 206 { throw .partialContent }
    var head = PartialContent.whole(
      FieldHygiene.permitted(
        response, directives: directives, rules: rules,
        leavesOutCookies: CookieSharing.isLeftOut(by: rules)))
    if isDecoded {
      for name in [
        .contentEncoding, .contentLength, FieldNames.contentDigest, FieldNames.reprDigest,
        FieldNames.contentMD5,
      ] {
        head.headerFields.remove(name)
      }
    }
    if head.headerFields.date(.date, relativeTo: responseTime).time == nil {
      head.headerFields[.date] = responseTime.httpDate
    }
    return StoredResponse(
      requestMethod: request.method, nominated: nominated, head: head, trailers: [:],
      requestTime: received.requestTime, responseTime: responseTime,
      answeredAuthorized: request.headerFields.firstIndex(of: .authorization) != nil, isDecoded: isDecoded,
      isInvalidated: false, isExpired: false, requestedRange: nil,
      facts: Freshness.strictestFacts(
        response: response, directives: directives, requestTime: received.requestTime,
        responseTime: responseTime, rules: rules),
      keyFingerprint: 0)
  }
}

extension StoredResponse {
  /// The response after applying the overrides of the rules; nil if they forbid its use.
  ///
  /// Facts are derived when a response is stored. If other overrides apply now, the facts are derived again
  /// from the stored head, so that a change of overrides takes effect at once: a response that is stored only
  /// because of an override is not used without it.
  ///
  /// - Parameter rules: the rules, resolved for the request.
  package func seen(by rules: CacheRules) -> StoredResponse? {
    let fingerprint = rules.applied?.responseFingerprint ?? 0
    if facts.overrides == fingerprint, fingerprint == 0 { return self }
    guard rules.allowsUse(of: head) else { return nil }
    if facts.overrides == fingerprint { return self }
    let directives = ResponseDirectives(of: head, rules: rules)
    guard isAllowed(by: rules, directives),
      rules.otherReadings.allSatisfy({ isAllowed(by: $0, ResponseDirectives(of: head, rules: $0)) }),
      !(CookieSharing.isLeftOut(by: rules) && head.headerFields.contains(.setCookie)),
      case .names(let names) = Vary.names(of: head, rules: rules),
      names.allSatisfy({ name in nominated.contains { $0.name == name } })
    else { return nil }
    var seen = self
    seen.facts = Freshness.strictestFacts(
      response: head, directives: directives, requestTime: requestTime, responseTime: responseTime,
      rules: rules)
    seen.facts.correctedInitialAge = facts.correctedInitialAge
    return seen
  }

  /// The response as rules see it that answer a request with it; nil if their overrides forbid its use.
  ///
  /// - Parameters:
  ///   - rules: the rules of a cache.
  ///   - request: the request.
  public func seen(by rules: CacheRules, answering request: HTTPRequest) -> StoredResponse? {
    seen(by: rules.resolved(for: request))
  }

  /// Whether the rules alone allow to keep the response.
  private func isAllowed(by rules: CacheRules, _ directives: ResponseDirectives) -> Bool {
    !Freshening.isForbidden(directives, status: head.status.code, rules: rules)
      && !CookieSharing.isForbidden(head, rules: rules, now: responseTime)
  }

  /// Why a response that is kept is not fresh, whatever its age.
  public enum Mark: Sendable, Hashable {
    /// To be validated before any use (`isInvalidated`).
    case invalidated
    /// At the end of its lifetime (`isExpired`).
    case expired
  }

  /// This response with a mark, besides those that it has.
  package func marked(as mark: Mark) -> StoredResponse {
    var marked = self
    switch mark {
    case .invalidated: marked.isInvalidated = true
    case .expired: marked.isExpired = true
    }
    return marked
  }

  /// This response with the marks that another one has, besides its own.
  package func marked(like other: StoredResponse) -> StoredResponse {
    var marked = self
    marked.isInvalidated = isInvalidated || other.isInvalidated
    marked.isExpired = isExpired || other.isExpired
    return marked
  }

  /// The freshness lifetime in seconds; at most the age of a response whose lifetime was ended.
  ///
  /// - Parameter age: the age of the response in seconds.
  public func freshnessLifetime(atAge age: Int64) -> Int64 {
    isExpired ? min(facts.freshnessLifetime, age) : facts.freshnessLifetime
  }

  /// The age and the freshness lifetime in seconds.
  package func ageAndLifetime(now: Timestamp) -> (age: Int64, lifetime: Int64) {
    let age = Age.current(self, now: now)
    return (age, freshnessLifetime(atAge: age))
  }

  /// Whether its key was made under equal effects on keys, or is its own target.
  package func isKeyed(by rules: CacheRules) -> Bool {
    keyFingerprint == 0 || keyFingerprint == rules.applied?.keyFingerprint
  }
}

extension StoredResponse {
  /// The head with the current age (RFC 9111 §4, §5.1).
  ///
  /// - Parameter age: the current age in seconds.
  public func head(age: Int64) -> HTTPResponse {
    var head = head
    let field = HTTPField(name: .age, value: String(max(0, age)))
    guard let index = head.headerFields.firstIndex(of: .age) else {
      // Reserve the size first, so that the fields are copied once.
      head.headerFields.reserveCapacity(head.headerFields.count + 1)
      // bounded: one field of a stored head.
      head.headerFields.append(field)
      return head
    }
    guard head.headerFields.firstIndex(of: .age, from: index + 1) == nil else {
      head.headerFields[fields: .age] = [field]
      return head
    }
    head.headerFields[index] = field
    return head
  }
}
