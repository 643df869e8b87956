public import HTTPTypes

/// Why the content of a request cannot be part of a key, so that its response is neither looked up nor
/// stored (RFC 10008 §2.7 for QUERY, RFC 9110 §9.3.1 and §9.3.2 for GET and HEAD).
#if hasAttribute(nonexhaustive)
  @nonexhaustive
#endif
public enum ContentObstacle: Reason, Hashable {
  /// It is longer than this number of bytes, which the cache reads for a key.
  case tooLarge(limit: Int)
  /// Digests of content are not available: the trait `Crypto` is off.
  case noDigest
  /// It belongs to a GET or HEAD, where content has no generally defined semantics: the origin may answer
  /// other content differently.
  case undefinedSemantics(HTTPRequest.Method)

  /// A few words for people.
  public var description: String {
    switch self {
    case .tooLarge(let limit): "the content of the QUERY is longer than \(limit) bytes"
    case .noDigest: "no digest for the content of the QUERY: the trait Crypto is off"
    case .undefinedSemantics(let method): "content in a \(method) has no defined meaning"
    }
  }

  /// The section.
  public var section: String {
    switch self {
    case .tooLarge, .noDigest: "RFC 10008 §2.7"
    case .undefinedSemantics(.head): "RFC 9110 §9.3.2"
    case .undefinedSemantics: "RFC 9110 §9.3.1"
    }
  }
}
