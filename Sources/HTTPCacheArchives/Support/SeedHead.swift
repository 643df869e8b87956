import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes

/// Makes the stored response of a seed from a recorded or an invented head.
enum SeedHead {
  /// The stored response; nil for a head that no request could select again.
  ///
  /// Cookies are dropped: they belong to the client that made the recording. `Content-Length` is the length of the
  /// body. Without the request's fields, `Vary` is dropped, and the response answers every request.
  ///
  /// - Parameters:
  ///   - target: a normalised target URI.
  ///   - fields: the fields of the response.
  ///   - request: the fields of the request that `Vary` names; nil if they are unknown.
  ///   - length: the length of the body in bytes.
  ///   - requested: when the request was sent, in seconds since 1970.
  ///   - received: when the response arrived, in seconds since 1970.
  ///   - isDecoded: whether the content coding was removed from the body.
  static func response(
    _ target: String, status: Int, _ fields: HTTPFields, request: HTTPFields?, length: Int64,
    times: (requested: Int64, received: Int64), isDecoded: Bool = false
  ) -> StoredResponse? {
    guard let parts = TargetURI.parts(of: target) else { return nil }
    var fields = fields
    for name in [HTTPField.Name.setCookie, .contentLength, .transferEncoding] { fields[fields: name] = [] }
    if request == nil { fields[fields: .vary] = [] }
    fields[.contentLength] = String(length)
    let making = StoredResponse.make(
      request: HTTPRequest(
        method: .get, scheme: parts.scheme, authority: parts.authority, path: parts.path,
        headerFields: request ?? [:]),
      response: ReceivedResponse(
        HTTPResponse(status: .init(code: status), headerFields: fields),
        requestTime: Timestamp(seconds: min(times.requested, times.received)),
        responseTime: Timestamp(seconds: times.received)), isDecoded: isDecoded, rules: CacheRules(),
      digest: { _ in nil })
    guard case .made(let response) = making else { return nil }
    return response
  }
}
