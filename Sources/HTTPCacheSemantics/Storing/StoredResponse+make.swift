public import HTTPTypes

extension StoredResponse {
  /// The result of making a stored response.
  public enum Making: Sendable, Hashable {
    /// The stored response.
    case made(StoredResponse)
    /// It cannot be stored, because no request could select it again.
    case refused(StorageRefusal)
  }

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
  public static func make(
    request: HTTPRequest, response received: ReceivedResponse, isDecoded: Bool, rules: CacheRules,
    digest: SecretDigest
  ) -> Making {
    if rules.isUnresolved {
      return make(
        request: request, response: received, isDecoded: isDecoded, rules: rules.resolved(for: request),
        digest: digest)
    }
    let (response, responseTime) = (received.head, received.responseTime)
    let nominated: [NominatedField]
    switch Vary.nominated(by: response, in: request, rules: rules, digest: digest) {
    case .fields(let fields): nominated = fields
    case .any: return .refused(.varyAny)
    case .secretWithoutDigest(let name): return .refused(.varySecret(name))
    case .malformed: return .refused(.malformed("Vary"))
    }
    if isDecoded, response.status.code == 206 { return .refused(.partialContent) }
    var head = PartialContent.whole(FieldHygiene.storable(response, rules: rules))
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
    return .made(
      StoredResponse(
        requestMethod: request.method, nominated: nominated, head: head, trailers: [:],
        requestTime: received.requestTime, responseTime: responseTime,
        answeredAuthorized: request.headerFields.contains(.authorization), isDecoded: isDecoded,
        isInvalidated: false, requestedRange: nil,
        facts: Freshness.facts(
          response: response, requestTime: received.requestTime, responseTime: responseTime, rules: rules),
        keyFingerprint: 0))
  }
}
