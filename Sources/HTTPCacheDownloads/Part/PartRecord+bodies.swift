import HTTPCacheSemantics
public import HTTPCaching

/// How long the body of a response must be.
extension PartRecord {
  private var knownLength: KnownLength? { KnownLength(length, validator: validator, of: fields) }

  /// Why a response cannot be the whole representation that the bytes belong to; nil if it may be, or another one.
  func contradiction(of response: HTTPResponse, now: Timestamp) -> String? {
    knownLength?.contradiction(of: response, receivedAt: now)
  }

  /// The body of a response of the origin to a request for the file or for the rest of it. The body ends with an
  /// `UpstreamError` at another length than its `Content-Range` or its strong validator says (RFC 9110 §8.8.1). If the
  /// cause is `LengthContradiction`, none of its bytes can be trusted.
  ///
  /// - Parameters:
  ///   - response: the response.
  ///   - now: when it arrived.
  /// - Throws: `UpstreamError` with the cause `LengthContradiction` if the response announces another length.
  public func body(of response: CacheResponse, now: Timestamp) throws(UpstreamError) -> MessageBody {
    guard case .forwarded = response.outcome else { return response.body }
    if let range = PartialContent.part(of: response.head)?.range {
      let length = range.upperBound - range.lowerBound
      return MessageBody(ExactBody(response.body, length: length, isPart: true))
    }
    guard let knownLength, knownLength.applies(to: response.head, receivedAt: now) else {
      return response.body
    }
    if let text = knownLength.contradiction(of: response.head, receivedAt: now) {
      throw UpstreamError(.protocol, text, cause: LengthContradiction(length: knownLength.length))
    }
    // An announced length is that of the body already.
    if response.body.length != nil { return response.body }
    return MessageBody(ExactBody(response.body, length: knownLength.length))
  }
}
