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

  private init(_ form: Form, digest: [UInt8]?, obstacle: ContentObstacle?) {
    self.form = form
    self.digest = digest
    self.obstacle = obstacle
  }

  /// No content.
  init(digest: [UInt8]?) {
    self.init(.none, digest: digest, obstacle: digest == nil ? .noDigest : nil)
  }

  /// All content, in memory.
  init(_ bytes: BodyBytes, trailers: HTTPFields, digest: [UInt8]?) {
    self.init(
      .whole(bytes, trailers: trailers), digest: digest, obstacle: digest == nil ? .noDigest : nil)
  }

  /// Content that is passed on unread.
  init(_ body: MessageBody, obstacle: ContentObstacle) {
    self.init(.streamed(body), digest: nil, obstacle: obstacle)
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
