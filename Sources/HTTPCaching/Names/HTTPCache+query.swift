import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes

extension HTTPCache {
  /// Reads the content of a QUERY, up to the limit for content in a key. Returns nil for requests whose key
  /// has no content: other methods, and requests that the cache does not handle.
  ///
  /// - Throws: what the body throws.
  func content(
    of request: HTTPRequest, _ body: MessageBody?, policy: CachePolicy
  ) async throws -> QueryContent? {
    guard request.method == .query, policy != .bypass else { return nil }
    guard let body else { return content(of: request, nil) }
    guard QueryDigester.isAvailable else { return QueryContent(body, obstacle: .noDigest) }
    let limit = max(0, configuration.rules.queryContentLimit)
    if let length = body.length, length > Int64(limit) {
      return QueryContent(body, obstacle: .tooLarge(limit: limit))
    }
    var pieces: [BodyBytes] = []
    var count = 0
    while let bytes = try await body.source.next() {
      pieces.append(bytes)
      count += bytes.count
      if count > limit {
        let rest = MessageBody(ResumedSource(pieces, rest: body))
        return QueryContent(rest, obstacle: .tooLarge(limit: limit))
      }
    }
    let content = BodyBytes(pieces.flatMap(\.array))
    return QueryContent(content, trailers: body.trailers, digest: digest(of: content, for: request))
  }

  /// The content, if it is in memory already; nil for none.
  func content(of request: HTTPRequest, _ bytes: BodyBytes?) -> QueryContent {
    let limit = max(0, configuration.rules.queryContentLimit)
    guard let bytes else { return QueryContent(digest: digest(of: BodyBytes(), for: request)) }
    if bytes.count > limit {
      return QueryContent(MessageBody(bytes), obstacle: .tooLarge(limit: limit))
    }
    return QueryContent(bytes, trailers: [:], digest: digest(of: bytes, for: request))
  }

  private func digest(of content: BodyBytes, for request: HTTPRequest) -> [UInt8]? {
    QueryDigester.digest(
      metadata: QueryMetadata.canonical(request.headerFields), content: content)
  }
}
