/// Why the content of a QUERY cannot be part of a key, so that its response is neither looked up nor
/// stored (RFC 10008 §2.7).
public enum ContentObstacle: Reason, Hashable {
  /// It is longer than the cache reads for a key, in bytes.
  case tooLarge(limit: Int)
  /// Digests of content are not available: the trait `Crypto` is off.
  case noDigest

  /// A few words for people.
  public var description: String {
    switch self {
    case .tooLarge(let limit): "the content of the QUERY is longer than \(limit) bytes"
    case .noDigest: "no digest for the content of the QUERY: the trait Crypto is off"
    }
  }

  /// The section.
  public var section: String { "RFC 10008 §2.7" }
}
