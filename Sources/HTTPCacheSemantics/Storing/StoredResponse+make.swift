public import HTTPTypes

extension StoredResponse {
  /// What became of an exchange that was to be stored.
  public enum Making: Sendable, Hashable {
    /// The stored response.
    case made(StoredResponse)
    /// It cannot be stored, since it could not be selected again.
    case refused(StorageRefusal)
  }

  /// Derives the stored response of an exchange that `Storability.decide` allows to store.
  ///
  /// Fields that must not be stored are dropped (RFC 9111 §3.1), a missing or invalid `Date` is
  /// replaced (RFC 9110 §6.6.1), the nominated request fields are kept (§4.1) and what follows for
  /// reuse is computed.
  ///
  /// - Parameters:
  ///   - request: the request as it was forwarded.
  ///   - response: the head as it arrived.
  ///   - requestTime: when the request was sent.
  ///   - responseTime: when the head arrived.
  ///   - isDecoded: whether the body comes without the content coding that it had on the wire; the
  ///     fields that describe the coded octets are dropped then.
  ///   - rules: the choices of the cache.
  ///   - digest: makes the digest of a secret value that `Vary` nominates.
  public static func make(
    request: HTTPRequest, response: HTTPResponse, requestTime: Timestamp, responseTime: Timestamp,
    isDecoded: Bool, rules: CacheRules, digest: SecretDigest
  ) -> Making {
    if rules.isUnresolved {
      return make(
        request: request, response: response, requestTime: requestTime, responseTime: responseTime,
        isDecoded: isDecoded, rules: rules.resolved(for: request), digest: digest)
    }
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
        requestMethod: request.method, nominated: nominated, head: head, requestTime: requestTime,
        responseTime: responseTime,
        answeredAuthorized: request.headerFields.contains(.authorization), isDecoded: isDecoded,
        facts: Freshness.facts(
          response: response, requestTime: requestTime, responseTime: responseTime, rules: rules)))
  }
}
