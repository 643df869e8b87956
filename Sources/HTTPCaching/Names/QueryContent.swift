import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes

/// The content of a QUERY that was read to make the key (RFC 10008 §2.7).
struct QueryContent: Sendable {
  private enum Form {
    case none
    case whole(BodyBytes, trailers: HTTPFields)
    case streamed(MessageBody)
  }

  /// The digest of content and metadata; nil if there is an obstacle.
  let digest: [UInt8]?
  /// Why the content is not part of the key.
  let obstacle: ContentObstacle?
  private let form: Form

  /// All content, in memory, or none.
  private init(_ form: Form, digest: [UInt8]?) {
    (self.form, self.digest) = (form, digest)
    obstacle = digest == nil ? .noDigest : nil
  }

  /// Content that is passed on unread.
  private init(_ body: MessageBody, obstacle: ContentObstacle) {
    (form, digest) = (.streamed(body), nil)
    self.obstacle = obstacle
  }

  var hasBody: Bool { if case .none = form { false } else { true } }

  /// Whether it can be sent more than once.
  var isRepeatable: Bool { if case .streamed = form { false } else { true } }

  /// The body to send, a new one on each call if the content can be repeated; nil for no content.
  func makeBody() -> MessageBody? {
    switch form {
    case .none: nil
    case .whole(let bytes, let trailers): MessageBody(bytes, trailers: trailers)
    case .streamed(let body): body
    }
  }
}

extension QueryContent {
  /// Reads the content of a QUERY, up to the limit for content in a key. Returns nil for requests whose key
  /// has no content: other methods, and requests that the cache does not handle.
  ///
  /// - Throws: what the body throws.
  static func read(
    _ body: MessageBody?, of request: HTTPRequest, policy: CachePolicy, rules: CacheRules
  ) async throws -> QueryContent? {
    guard request.method == .query, policy != .bypass else { return nil }
    guard let body else { return QueryContent(nil, of: request, rules: rules) }
    guard QueryDigester.isAvailable else { return QueryContent(body, obstacle: .noDigest) }
    let limit = max(0, rules.queryContentLimit)
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
    return QueryContent(
      .whole(content, trailers: body.trailers), digest: digest(of: content, for: request))
  }

  /// The content, if it is in memory already; nil for none.
  init(_ bytes: BodyBytes?, of request: HTTPRequest, rules: CacheRules) {
    let limit = max(0, rules.queryContentLimit)
    if let bytes, bytes.count > limit {
      self.init(MessageBody(bytes), obstacle: .tooLarge(limit: limit))
    } else if let bytes {
      self.init(.whole(bytes, trailers: [:]), digest: Self.digest(of: bytes, for: request))
    } else {
      self.init(.none, digest: Self.digest(of: BodyBytes(), for: request))
    }
  }

  private static func digest(of content: BodyBytes, for request: HTTPRequest) -> [UInt8]? {
    QueryDigester.digest(
      metadata: QueryMetadata.canonical(request.headerFields), content: content)
  }
}
