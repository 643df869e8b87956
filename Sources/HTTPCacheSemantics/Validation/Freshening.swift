public import HTTPTypes

/// Updates stored responses from newer heads (RFC 9111 §3.2, §4.3.4, §4.3.5).
public enum Freshening {
  /// The stored responses that a 304 identifies (§4.3.4).
  ///
  /// Only candidates that could have been chosen for the request are updated. A strong entity tag identifies
  /// all candidates that have it. Weak validators, including `Last-Modified`, identify the most recent match.
  /// A 304 without validators identifies a single candidate: the origin confirmed the only condition it got,
  /// and RFC 9110 §15.4.5 does not require `Last-Modified` in a 304
  /// (`docs/decisions/0006-a-304-without-validators.md`).
  ///
  /// A candidate that the request does not match answers it if it alone has the strong tag of the 304: the
  /// tag says that its octets are those of the selected representation (RFC 9110 §8.8.3.3). A weaker
  /// validator does not identify a candidate that was selected by other fields
  /// (`docs/decisions/0019-what-a-304-confirms.md`).
  ///
  /// - Parameters:
  ///   - notModified: the head of the 304.
  ///   - candidates: the responses whose validators the request carried, the preferred one first.
  ///   - mismatched: the indices of candidates that could not have been chosen, because the request has other
  ///     values of the fields that they nominate (§4.1).
  public static func decide(
    notModified: HTTPResponse, candidates: [StoredResponse], mismatched: Set<Int> = []
  ) -> FresheningDecision {
    let fields = notModified.headerFields
    let chosen = candidates.indices.filter { !mismatched.contains($0) }
    return fields.withEntityTag { tag in
      if let tag, !tag.isWeak {
        let matches = candidates.indices.filter { candidates[$0].head.headerFields.matchStrongly(tag) }
        let updated = matches.filter { !mismatched.contains($0) }
        if !updated.isEmpty { return .freshen(updated) }
        guard let first = matches.first, fields.only(.eTag) != nil,
          matches.allSatisfy({ Validation.isSameRepresentation(candidates[$0], candidates[first]) })
        else { return .noMatch }
        return .reuse(first)
      }
      if tag != nil || fields.contains(.lastModified) {
        let matches = chosen.filter { matchesWeakly(tag, in: fields, candidate: candidates[$0]) }
        let latest = matches.max { first, second in
          let dates = (candidates[first].date, candidates[second].date)
          return dates.0 == dates.1 ? first > second : dates.0 < dates.1
        }
        return latest.map { .freshen([$0]) } ?? .noMatch
      }
      return candidates.count == 1 && chosen == [0] && !fields.contains(.eTag) ? .freshen([0]) : .noMatch
    }
  }

  /// The stored response with the header fields of a newer one (§3.2).
  ///
  /// Not updated are the fields of §3.1, `Content-Length`, `Content-Range`, and the fields that describe the
  /// stored body: `Content-Encoding` and the digest of the content. `Age` is dropped, and `Date` is set, if
  /// the newer response has none. The facts are derived again, and an invalidation is cleared.
  ///
  /// A new `Vary` needs the validated request: its fields are nominated again. If that is impossible, or if
  /// the newer response must not be stored, the result is the unchanged stored response, marked as
  /// invalidated: every use is then validated, and nothing of the newer response is kept. The newer response
  /// must not be stored because of `no-store`, `private` in a shared cache, `Vary: *`, or `Set-Cookie`
  /// (`StorageRefusal.setCookie`).
  ///
  /// - Parameters:
  ///   - stored: the response to update.
  ///   - response: the 304, or the 200 to HEAD.
  ///   - rules: the choices of the cache.
  ///   - request: the validated request.
  ///   - digest: makes the digest of a secret value.
  public static func updated(
    _ stored: StoredResponse, with response: ReceivedResponse, rules: CacheRules,
    validating request: HTTPRequest? = nil,
    digest: SecretDigest = { _ in nil }
  ) -> StoredResponse {
    update(
      of: stored, with: response, rules: rules, validating: request, digest: digest
    ).stored
  }

  /// Like `updated`, and also returns the response that answers the validated request.
  package static func update(
    of stored: StoredResponse, with received: ReceivedResponse, rules: CacheRules,
    validating request: HTTPRequest? = nil,
    digest: SecretDigest = { _ in nil }
  ) -> ResponseUpdate {
    let (response, responseTime) = (received.head, received.responseTime)
    let seen = Self.newer(response, of: stored)
    var newer = permitted(response, rules: rules)
    newer.headerFields.removeAll { isKept($0.name, isDecoded: stored.isDecoded) }
    var result = stored
    result.isExpired = false
    result.isInvalidated = !rules.hold {
      !isForbidden(ResponseDirectives(of: seen, rules: $0), status: stored.head.status.code, rules: $0)
    }
    if newer.headerFields.contains(.vary) {
      updateVary(
        &result, newer: &newer, request: request, rules: rules, digest: digest)
    }
    if !merge(newer.headerFields, into: &result.head.headerFields) { result.isInvalidated = true }
    if rules.obeysNoVarySearch, hasOtherVariance(result, than: stored) { result.isInvalidated = true }
    if !newer.headerFields.contains(.age) { result.head.headerFields.remove(.age) }
    if newer.headerFields.date(.date, relativeTo: responseTime).time == nil {
      result.head.headerFields[.date] = responseTime.httpDate
    }
    result.requestTime = received.requestTime
    result.responseTime = responseTime
    result.facts = Freshness.facts(
      response: result.head, requestTime: received.requestTime, responseTime: responseTime, rules: rules)
    result.head = permitted(result.head, rules: rules)
    // The client of this request gets its cookies, whatever is stored.
    var kept = result
    kept.head = FieldHygiene.storable(result.head, rules: rules)
    if !result.isInvalidated {
      result.isInvalidated = isForbidden(
        rules.refusesSetCookie ? result.head : kept.head, to: request, rules: rules, receivedAt: responseTime)
    }
    return ResponseUpdate(
      stored: result.isInvalidated ? stored.marked(as: .invalidated) : kept, answer: result)
  }

  /// The response without the fields that it forbids to store, with its cookies.
  private static func permitted(_ response: HTTPResponse, rules: CacheRules) -> HTTPResponse {
    FieldHygiene.permitted(
      response, directives: ResponseDirectives(of: response, rules: rules), rules: rules,
      leavesOutCookies: false)
  }

  /// Whether a response must not be stored with its fields after an update.
  private static func isForbidden(
    _ merged: HTTPResponse, to request: HTTPRequest?, rules: CacheRules, receivedAt time: Timestamp
  ) -> Bool {
    !rules.hold { rules in
      let directives = ResponseDirectives(of: merged, rules: rules)
      if isForbidden(directives, status: merged.status.code, rules: rules) { return false }
      if CookieSharing.isForbidden(merged, rules: rules, now: time) { return false }
      return rules.mode == .private || request?.headerFields.contains(.authorization) != true
        || directives.flags.allowsSharingAuthorized
    }
  }

  /// The effect of a response to HEAD on a stored response to GET that could have been chosen for the same
  /// request (§4.3.5).
  ///
  /// - Parameters: as for `updated(_:with:rules:validating:digest:)`.
  public static func updatedByHead(
    _ stored: StoredResponse, with response: ReceivedResponse, rules: CacheRules,
    validating request: HTTPRequest? = nil,
    digest: SecretDigest = { _ in nil }
  ) -> HeadFreshening {
    guard response.head.status.code == 200, stored.requestMethod == .get else { return .unrelated }
    let newer = response.head.headerFields
    let older = stored.head.headerFields
    var compared: [HTTPField.Name] = [.eTag, .lastModified]
    // A decoded body has another length than the one on the wire.
    if !stored.isDecoded { compared.append(.contentLength) }
    for name in compared {
      // A part of unknown length has no length to compare.
      if name == .contentLength, !older.contains(name) { continue }
      if newer.contains(name), newer[fields: name] != older[fields: name] { return .invalidate }
    }
    guard stored.head.status.code == 200 else { return .invalidate }
    // Without equal validators, the response may differ from an invalidated one, so it does not clear the
    // mark (§4.4).
    let hasMatch = [HTTPField.Name.eTag, .lastModified].contains { newer.contains($0) && older.contains($0) }
    if stored.isInvalidated, !hasMatch { return .invalidate }
    let updated = updated(
      stored, with: response, rules: rules, validating: request, digest: digest)
    return updated.isInvalidated ? .invalidate : .update(updated)
  }

  private static func matchesWeakly(
    _ tag: EntityTag?, in fields: HTTPFields, candidate: StoredResponse
  ) -> Bool {
    let stored = candidate.head.headerFields
    if let tag {
      let isMatch = stored.withEntityTag { stored in stored.map { tag.matchesWeakly($0) } }
      if let isMatch { return isMatch }
    }
    let modified = fields.date(.lastModified, relativeTo: candidate.responseTime).time
    return modified != nil
      && modified == stored.date(.lastModified, relativeTo: candidate.responseTime).time
  }

  /// Fields that keep their stored values.
  private static func isKept(_ name: HTTPField.Name, isDecoded: Bool) -> Bool {
    switch name {
    case .contentLength, .contentRange, .contentEncoding, FieldNames.contentDigest: true
    case FieldNames.reprDigest, FieldNames.contentMD5: isDecoded
    default: false
    }
  }

  /// A newer response as overrides see it: a 304 may omit the type of the content.
  private static func newer(_ response: HTTPResponse, of stored: StoredResponse) -> HTTPResponse {
    var newer = HTTPResponse(status: stored.head.status, headerFields: response.headerFields)
    if !newer.headerFields.contains(.contentType) {
      newer.headerFields[fields: .contentType] = stored.head.headerFields[fields: .contentType]
    }
    return newer
  }

  static func isForbidden(
    _ directives: ResponseDirectives, status: Int, rules: CacheRules
  ) -> Bool {
    if rules.mode == .shared, directives.private == .whole { return true }
    guard directives.noStore else { return false }
    return !directives.flags.liftsNoStore || !StatusCaching.isUnderstood(status)
  }

  private static func updateVary(
    _ result: inout StoredResponse, newer: inout HTTPResponse, request: HTTPRequest?,
    rules: CacheRules, digest: SecretDigest
  ) {
    if case .names(let names) = Vary.names(in: newer.headerFields), names.isEmpty {
      newer.headerFields.remove(.vary)
      return
    }
    let seen = self.newer(newer, of: result)
    if case .names(let names) = Vary.names(of: seen, rules: rules),
      names.allSatisfy({ name in result.nominated.contains { $0.name == name } })
    {
      result.nominated.removeAll { !names.contains($0.name) }
      return
    }
    if let request,
      case .fields(let nominated) = Vary.nominated(
        by: seen, in: request, rules: rules, digest: digest)
    {
      result.nominated = nominated
      return
    }
    newer.headerFields.remove(.vary)
    result.isInvalidated = true
  }

  /// Whether a response is for other queries than before: its key is that of a query without what did not matter
  /// (draft-ietf-httpbis-no-vary-search §6).
  private static func hasOtherVariance(_ newer: StoredResponse, than stored: StoredResponse) -> Bool {
    let variance = SearchVariance(stored.head.headerFields)
    return !variance.isDefault && SearchVariance(newer.head.headerFields) != variance
  }

  /// - Returns: false if the fields are more than a head may have: those of many 304s could add up.
  private static func merge(_ newer: HTTPFields, into fields: inout HTTPFields) -> Bool {
    var names: [HTTPField.Name] = []
    for field in newer where !names.contains(field.name) { names.append(field.name) }
    fields.removeAll { names.contains($0.name) }
    return newer.allSatisfy { fields.appendBounded($0) }
  }
}

/// The stored responses that a 304 freshens (RFC 9111 §4.3.4).
public enum FresheningDecision: Sendable, Hashable {
  /// The candidates at these indices; the first one answers the request.
  case freshen([Int])
  /// None, but the candidate at this index answers the request: its strong entity tag is that of the selected
  /// representation, although the request does not match it.
  case reuse(Int)
  /// None: the request must be sent again without the condition.
  case noMatch
}

/// The effect of a response to HEAD on a stored response to GET (RFC 9111 §4.3.5).
public enum HeadFreshening: Sendable, Hashable {
  /// It describes the same representation: store this response instead.
  case update(StoredResponse)
  /// It describes another representation: the stored response counts as stale.
  case invalidate
  /// It says nothing about the stored response.
  case unrelated
}

/// The result of updating a stored response with a newer head (RFC 9111 §3.2).
package struct ResponseUpdate: Sendable {
  /// The response to store instead.
  package var stored: StoredResponse
  /// The response that answers the validated request, including fields that must not be stored.
  package var answer: StoredResponse
}
